/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the messages of a journal of earlier types, and by upgrade_state.c its state, to the kernel's present types. Takes
 * no lock, because it runs before the journal's queue is made.
 */
#include "core/durability/upgrade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/durability/change.h"
#include "core/kernel/kernel.h"
#include "core/types/adopt.h"

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to take over a journal of other types");
}

/* ---- messages ---- */

/* Requests or replies that are converted into new memory. */
struct takeover {
    const struct gyre_durable *durable;
    struct gyre_upgrade_step step;
    struct gyre_kept_message *messages;
    unsigned char *room; /* for as many messages of the new type, each aligned to 8 bytes */
    uint64_t stride;
    uint64_t count;   /* messages that have to be converted */
    const char *what; /* "request" or "completion", for error sentences */
};

static gyre_status refuse_messages(const struct takeover *takeover)
{
    return gyre_error_add(
        GYRE_INCOMPATIBLE,
        "the journal '%s' holds %llu %s%s of type '%s', which cannot be those of kernel '%s' as it is now: launch "
        "the handler that wrote it once more, receive what is offered, and end it in order; or move the journal away",
        takeover->durable->file.path, (unsigned long long)takeover->count, takeover->what,
        takeover->count == 1 ? "" : "s", takeover->step.from->name, takeover->durable->kernel->name);
}

/* Converts a message. A request that was not valid for its type stays invalid, and its length tells the handler. */
static void take_over(const struct takeover *takeover, uint64_t place)
{
    struct gyre_kept_message *message = &takeover->messages[place];
    unsigned char *out = takeover->room + place * takeover->stride;
    uint64_t length = 0;
    gyre_error_hold();
    if (gyre_layout_check_adopt(takeover->step.from, takeover->step.to) == GYRE_OK &&
        gyre_layout_adopt(takeover->step.from, message->payload, message->length, takeover->step.to, out,
                          &length) == GYRE_OK)
        message->length = (uint32_t)length;
    else
        message->length = 0;
    gyre_error_let_go();
    message->payload = out;
}

/* Allocates the memory for converted messages. The journal's content owns it afterwards. */
static gyre_status make_takeover_room(struct takeover *takeover, uint64_t all, unsigned char **room)
{
    takeover->stride =
        (takeover->step.to->size + GYRE_RECORD_ALIGNMENT) / GYRE_RECORD_ALIGNMENT * GYRE_RECORD_ALIGNMENT;
    *room = takeover->room = calloc(all + 1, takeover->stride);
    return *room ? GYRE_OK : no_memory();
}

/* Converts requests that still have to be handled. Other requests only count, so they are not converted. */
static gyre_status take_over_requests(struct gyre_durable *durable, const gyre_type *was, const gyre_type *is)
{
    struct gyre_journal_content *content = &durable->content;
    struct takeover takeover = {.durable = durable, .messages = content->requests, .what = "request"};
    gyre_status status = gyre_upgrade_step_begin(was, is, &takeover.step);
    const uint64_t all = content->sent - content->first;
    if (status != GYRE_OK || takeover.step.same)
        goto end;
    for (uint64_t i = 0; i < all; i++)
        takeover.count += !content->done[i] && !content->skipped[i];
    status = takeover.count ? gyre_layout_check_adopt(takeover.step.from, takeover.step.to) : GYRE_OK;
    if (status != GYRE_OK)
        status = refuse_messages(&takeover);
    else
        status = make_takeover_room(&takeover, all, &content->rooms[0]);
    for (uint64_t i = 0; status == GYRE_OK && i < all; i++)
        take_over(&takeover, i);
end:
    gyre_upgrade_step_finish(&takeover.step);
    return status;
}

static bool is_reply(const struct gyre_kept_message *message)
{
    return message->payload && message->info == GYRE_OUTCOME_REPLY;
}

static gyre_status take_over_replies(struct gyre_durable *durable, const gyre_type *was, const gyre_type *is)
{
    struct gyre_journal_content *content = &durable->content;
    struct takeover takeover = {.durable = durable, .messages = content->replies, .what = "completion"};
    gyre_status status = gyre_upgrade_step_begin(was, is, &takeover.step);
    const uint64_t all = content->sent - content->first;
    if (status != GYRE_OK || takeover.step.same)
        goto end;
    for (uint64_t i = content->received - content->first; i < all; i++)
        takeover.count += is_reply(&content->replies[i]);
    if (takeover.count == 0)
        goto end;
    status = gyre_layout_check_adopt(takeover.step.from, takeover.step.to);
    if (status != GYRE_OK)
        status = refuse_messages(&takeover);
    else
        status = make_takeover_room(&takeover, all, &content->rooms[1]);
    for (uint64_t i = content->received - content->first; status == GYRE_OK && i < all; i++)
        if (is_reply(&content->replies[i]))
            take_over(&takeover, i);
end:
    gyre_upgrade_step_finish(&takeover.step);
    return status;
}

/* ---- all of it ---- */

/* For a journal whose handler kept no state: marks requests with a received reply as done, so that none is handled again. */
static void begin_state(struct gyre_journal_content *content)
{
    for (uint64_t index = content->first; index < content->received; index++)
        content->done[index - content->first] = 1;
    content->covered = content->received;
}

static gyre_status refuse_unknown(const struct gyre_durable *durable)
{
    return gyre_error_set(GYRE_INCOMPATIBLE,
                          "the journal '%s' was written with other types of messages, state or buffers than "
                          "those of kernel '%s': finish it with the kernel that wrote it, or move it away",
                          durable->file.path, durable->kernel->name);
}

gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine)
{
    struct gyre_journal_content *content = &durable->content;
    const struct gyre_record_open *its = &content->open;
    const struct gyre_journal_type *request = gyre_journal_type_of(&content->types, GYRE_ROLE_REQUEST, NULL);
    const struct gyre_journal_type *reply = gyre_journal_type_of(&content->types, GYRE_ROLE_REPLY, NULL);
    bool differ = false;
    if (!request || !reply) /* an earlier version of Gyre wrote hashes alone */
        return mine->request_hash == its->request_hash && mine->reply_hash == its->reply_hash &&
                       mine->state_size == its->state_size
                   ? GYRE_OK
                   : refuse_unknown(durable);
    if (mine->state_size && !its->state_size)
        begin_state(content);
    char whose[GYRE_NAME_MAX + 16];
    snprintf(whose, sizeof whose, "kernel '%s'", durable->kernel->name);
    gyre_status status =
        gyre_change_judge(durable->kernel, whose, mine->handler, durable->file.path, content);
    if (status == GYRE_OK)
        status = take_over_requests(durable, request->type, durable->types[0].type);
    if (status == GYRE_OK)
        status = take_over_replies(durable, reply->type, durable->types[1].type);
    if (status == GYRE_OK)
        status = gyre_upgrade_compare_state(durable, &differ);
    return status == GYRE_OK && differ ? gyre_upgrade_state(durable, mine->state_size) : status;
}
