/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of the reply and the scratch were written for a message (cpu_written.h). */
#include "backends/cpu/check/cpu_written.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/check/cpu_fields.h"
#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_watched.h"

bool cpu_written_prepare(struct cpu_watched *watched, const gyre_cpu_kernel *kernel, uint32_t blocks)
{
    watched->scratch_first = kernel->sizes.reply;
    watched->written_size =
        watched->scratch_first + (gyre_form_shares(kernel->form) ? blocks * kernel->scratch_size : 0);
    watched->written = calloc(1, watched->written_size + 1);
    return watched->written != NULL;
}

void cpu_written_begin(struct cpu_worker *worker)
{
    struct cpu_watched *const watched = worker->watched;
    if (watched->written)
        memset(watched->written, 0, watched->written_size);
    if (watched->latest)
        memset(watched->latest, 0,
               (size_t)worker->resident->lanes * worker->resident->together * sizeof *watched->latest);
}

/* ---- messages from handler to handler ---- */

static struct cpu_sent *sent_at(const struct cpu_checks *checks, const void *at)
{
    return &checks->sent[(uint64_t)(uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (CPU_SENT_MAX - 1)];
}

/* Makes the entry that of a message of which nothing was written. False without memory. */
static bool begin_sent(struct cpu_sent *sent, const gyre_cpu_range *range, uint64_t message)
{
    const uint64_t size = (uint64_t)(range->end - range->from);
    if (size > sent->room) {
        unsigned char *const written = realloc(sent->written, size);
        if (!written) {
            sent->at = NULL;
            return false;
        }
        sent->written = written;
        sent->room = size;
    }
    memset(sent->written, 0, size);
    sent->at = range->from;
    sent->message = message;
    sent->size = size;
    return true;
}

void cpu_written_emit(const struct cpu_worker *worker, const struct cpu_touch *touch)
{
    const struct cpu_checks *const checks = worker->resident->device->checks;
    const gyre_cpu_range *const range = touch->range;
    struct cpu_sent *const sent = sent_at(checks, range->from);
    if (!(touch->how & GYRE_TOUCH_WRITES))
        return;
    if ((sent->at != range->from || sent->message != worker->watched->message) &&
        !begin_sent(sent, range, worker->watched->message))
        return;
    sent->code = touch->code;
    memset(sent->written + ((const gyre_u8 *)touch->at - range->from), 1, touch->size);
}

/* Of a type with parts, or of several types, bytes do not lie where the sender wrote them. */
static bool lies_as_sent(const struct cpu_worker *worker, const struct cpu_sent *sent)
{
    const gyre_cpu_kernel *const kernel = worker->resident->kernel;
    char field[96];
    return kernel->sizes.request == kernel->sizes.request_least && kernel->sizes.request == sent->size &&
           cpu_fields_name(kernel->request, 0, field, sizeof field);
}

void cpu_written_receive(struct cpu_worker *worker)
{
    struct cpu_watched *const watched = worker->watched;
    const struct cpu_checks *const checks = worker->resident->device->checks;
    watched->received_size = 0;
    if (!checks->sent)
        return;
    struct cpu_sent *const sent = sent_at(checks, watched->request);
    if (!watched->request || sent->at != watched->request || !lies_as_sent(worker, sent))
        return;
    sent->at = NULL;
    /* the two change places: the entry may be another message's before this one is over */
    unsigned char *const written = watched->received;
    const uint64_t room = watched->received_room;
    watched->received = sent->written;
    watched->received_room = sent->room;
    watched->received_size = sent->size;
    watched->sender = sent->message;
    watched->sender_code = sent->code;
    sent->written = written;
    sent->room = room;
}

void cpu_written_close(struct cpu_checks *checks)
{
    for (uint32_t i = 0; checks->sent && i < CPU_SENT_MAX; i++)
        free(checks->sent[i].written);
    free(checks->sent);
}

void cpu_written_finish(struct cpu_watched *watched)
{
    free(watched->written);
    free(watched->received);
}

/* ---- reads ---- */

static bool any_set(const unsigned char *bytes, uint64_t count);

void cpu_written_end(struct cpu_worker *worker)
{
    struct cpu_unwritten *const unwritten = &worker->watched->unwritten;
    if (unwritten->touch.code)
        cpu_finding_unwritten_scratch(worker, NULL, 0);
    unwritten->touch.code = NULL;
}

/* A lane may write the bytes later in this message: then the sentence has that line, too. Where one is kept already, it is told first. */
static void keep_unwritten(gyre_context *context, const struct cpu_touch *touch, uint64_t first)
{
    struct cpu_worker *const worker = context->owner;
    struct cpu_unwritten *const unwritten = &worker->watched->unwritten;
    if (!cpu_finding_unwritten(context, touch))
        return;
    cpu_written_end(worker);
    *unwritten = (struct cpu_unwritten){
        .touch = *touch, .range = *touch->range, .first = first, .lane = cpu_finding_lane(context)};
    unwritten->touch.range = &unwritten->range;
}

/* A lane writes these bytes: perhaps those that another one has read, at another place of the code. */
static void settle_unwritten(gyre_context *context, const struct cpu_touch *touch, uint64_t first)
{
    struct cpu_worker *const worker = context->owner;
    struct cpu_unwritten *const unwritten = &worker->watched->unwritten;
    if (!unwritten->touch.code || unwritten->touch.code == touch->code ||
        unwritten->lane == cpu_finding_lane(context) || first >= unwritten->first + unwritten->touch.size ||
        unwritten->first >= first + touch->size)
        return;
    cpu_finding_unwritten_scratch(worker, touch, cpu_finding_lane(context));
    unwritten->touch.code = NULL;
}

/* A second read tells nothing new. */
static void check_request(gyre_context *context, const struct cpu_touch *touch)
{
    const struct cpu_worker *const worker = context->owner;
    const struct cpu_watched *const watched = worker->watched;
    const uint64_t first = (uint64_t)((const gyre_u8 *)touch->at - touch->range->from);
    if (first + touch->size > watched->received_size || any_set(watched->received + first, touch->size))
        return;
    cpu_finding_unwritten(context, touch);
    memset(watched->received + first, 1, touch->size);
}

/* Whether any of the bytes is not 0. Accesses are of 1, 2, 4 or 8 bytes, nearly always. */
static bool any_set(const unsigned char *bytes, uint64_t count)
{
    uint64_t word = 0;
    while (count > sizeof word) {
        if (bytes[--count])
            return true;
    }
    for (uint64_t i = 0; i < count; i++)
        word |= bytes[i];
    return word != 0;
}

/* Whether the reply to the request that is handled lies where its fields are: it has no tail. */
static bool has_fields_alone(const struct cpu_worker *worker)
{
    const gyre_cpu_kernel *const kernel = worker->resident->kernel;
    uint64_t skip;
    char field[96];
    if (kernel->sizes.reply == kernel->sizes.reply_least)
        return true;
    const gyre_type *const type = cpu_fields_chosen(kernel->reply, worker->watched->request, &skip);
    return skip && type->field_types && strcmp(type->field_types[0]->name, "gyre_used") != 0 &&
           cpu_fields_name(type, 0, field, sizeof field);
}

/*
 * Bytes that were never written are told only where none of the read bytes was: a struct that is copied as one has bytes
 * between its members that nobody writes.
 */
void cpu_written_check(gyre_context *context, const struct cpu_touch *touch)
{
    const struct cpu_worker *const worker = context->owner;
    const struct cpu_watched *const watched = worker->watched;
    const gyre_cpu_range *const range = touch->range;
    const bool scratch = range->sort == GYRE_SORT_SCRATCH;
    const uint64_t block = worker->resident->together > 1 ? context->block : 0;
    if (range->sort == GYRE_SORT_REQUEST)
        check_request(context, touch);
    if (!scratch && (range->sort != GYRE_SORT_REPLY || !has_fields_alone(worker)))
        return;
    const uint64_t first =
        (scratch ? watched->scratch_first + block * worker->resident->kernel->scratch_size : 0) +
        (uint64_t)((const gyre_u8 *)touch->at - range->from);
    if (first + touch->size > watched->written_size)
        return;
    const bool reads = touch->how & GYRE_TOUCH_READS && !any_set(watched->written + first, touch->size);
    if (reads && scratch)
        keep_unwritten(context, touch, first);
    else if (reads)
        cpu_finding_unwritten(context, touch);
    else if (touch->how & GYRE_TOUCH_WRITES)
        settle_unwritten(context, touch, first);
    memset(watched->written + first, 1, touch->size); /* a second read tells nothing new */
}
