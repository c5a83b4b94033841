/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the journal of a queue, and lets the queue go on from its content. durable_thread.c writes the journal.
 * Locks: durable.h.
 */
#include "core/durability/durable_open.h"
#include "core/durability/durable_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/device/buffer.h"
#include "core/durability/checkpoint.h"
#include "core/durability/durable_types.h"
#include "core/durability/together.h"
#include "core/durability/upgrade.h"
#include "core/kernel/keyed.h"
#include "core/kernel/kernel_queue.h"
#include "core/pipeline/build.h"
#include "core/plan/queue_plan.h"
#include "core/queue/names.h"
#include "core/queue/queue.h"
#include "core/queue/side.h"
#include "core/stages/log.h"
#include "core/types/buffers.h"

/* ---- the kernel that a journal is of ---- */

/* Describes the types of the kernel's messages, and the types of a checkpoint's parts (state and buffers) in their order. */
static gyre_status describe_types(struct gyre_durable *durable)
{
    const gyre_kernel *kernel = durable->kernel;
    struct gyre_record_open hashes;
    const gyre_status status = gyre_durable_describe_messages(durable, kernel->record, &hashes);
    return status == GYRE_OK && kernel->checkpoints ? gyre_durable_describe_kept(durable, kernel) : status;
}

static gyre_status identify(const gyre_kernel *kernel, const char *queue, struct gyre_record_open *open)
{
    uint64_t state = 0;
    gyre_status status = gyre_durable_hash_type(kernel->record->request, &open->request_hash);
    if (status == GYRE_OK)
        status = gyre_durable_hash_type(kernel->record->reply, &open->reply_hash);
    if (status == GYRE_OK && kernel->record->state->size)
        status = gyre_durable_hash_type(kernel->record->state, &state);
    open->reply_hash = gyre_record_reply_hash(open->reply_hash, state);
    open->state_size = kernel->checkpoints ? kernel->checkpoints->store.size : 0;
    open->handler = gyre_build_handler(kernel->build);
    snprintf(open->kernel, sizeof open->kernel, "%s", kernel->name);
    snprintf(open->queue, sizeof open->queue, "%s", queue);
    return status;
}

static gyre_status compare_opened(const struct gyre_record_open *mine, const struct gyre_record_open *its,
                                  const char *path)
{
    if (strcmp(mine->kernel, its->kernel) != 0 || strcmp(mine->queue, its->queue) != 0)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the journal '%s' is of queue '%s' of kernel '%s', not of '%s' of '%s'; move it away", path,
            its->queue, its->kernel, mine->queue, mine->kernel);
    return GYRE_OK;
}

static gyre_status check_header(const struct gyre_durable *durable, const gyre_queue *queue)
{
    if (durable->content.open.header_size == gyre_ring_of(queue)->slots.header_size)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the journal '%s' was written with headers of %u bytes, and queue '%s' has %u: set its "
        "header as it was, or move the journal away",
        durable->file.path, durable->content.open.header_size, gyre_queue_name(queue),
        gyre_ring_of(queue)->slots.header_size);
}

/* ---- opening ---- */

/* An error when the kernel cannot have a queue with a journal. */
static gyre_status check_kernel(const gyre_kernel *kernel, bool is_entry, const char *queue)
{
    if (!queue || !queue[0])
        return gyre_error_set(GYRE_INVALID,
                              "a queue of kernel '%s' has durability = journal and no name: give it one, so "
                              "that its journal is found again",
                              kernel->name);
    if (!is_entry && kernel->checkpoints && gyre_kernel_first_queue(kernel))
        return gyre_error_set(GYRE_INVALID,
                              "queue '%s' has durability = journal: a kernel with checkpoints has one queue "
                              "then, and '%s' has another one",
                              queue, kernel->name);
    return GYRE_OK;
}

static gyre_status open_file(const gyre_kernel *kernel, const char *queue, struct gyre_durable *durable)
{
    char name[2 * GYRE_NAME_MAX + 2];
    const char *folder = gyre_config_text(kernel->runtime->config, GYRE_SECTION_GYRE, NULL, "journal_dir");
    snprintf(name, sizeof name, "%s.%s", kernel->name, queue);
    return gyre_journal_file_open(folder, name, durable->sync != GYRE_SYNC_NEVER, &durable->file);
}

static void note_recovered(struct gyre_durable *durable)
{
    const struct gyre_journal_content *content = &durable->content;
    durable->recovered = (gyre_recovered){.first = content->received,
                                          .offered = content->sent - content->received,
                                          .lost_bytes = content->cut ? GYRE_MARK_SIZE : content->lost,
                                          .lost_first = content->lost_first,
                                          .lost_end = content->lost_end};
}

static void tell_recovered(const struct gyre_durable *durable)
{
    const gyre_recovered *told = &durable->recovered;
    const gyre_runtime *runtime = durable->kernel->runtime;
    if (told->lost_bytes && told->lost_end > told->lost_first)
        gyre_runtime_log(
            runtime, GYRE_LOG_ERROR,
            "the journal '%s' is damaged: %llu bytes cannot be used, "
            "and requests %llu to %llu are lost, at least; those before them, and the state up to there, "
            "are kept",
            durable->file.path, (unsigned long long)told->lost_bytes, (unsigned long long)told->lost_first,
            (unsigned long long)told->lost_end - 1);
    else if (durable->content.cut)
        gyre_runtime_log(
            runtime, GYRE_LOG_WARNING,
            "the journal '%s' was shortened: it ends behind a whole record, without the mark that stands behind "
            "what was written last; requests from %llu on are lost if any were there, and all before are kept",
            durable->file.path, (unsigned long long)told->lost_first);
    else if (told->lost_bytes)
        gyre_runtime_log(
            runtime, GYRE_LOG_WARNING,
            "the journal '%s' ends in the midst of a record: its last %llu bytes cannot be used, "
            "and requests from %llu on are lost if any were there, and all before are kept",
            durable->file.path, (unsigned long long)told->lost_bytes, (unsigned long long)told->lost_first);
    if (told->offered)
        gyre_runtime_log(runtime, GYRE_LOG_WARNING,
                         "queue '%s' goes on with %llu requests of an earlier run, from %llu on",
                         durable->content.open.queue, (unsigned long long)told->offered,
                         (unsigned long long)told->first);
}

/* Reads the file of an earlier run; no content without a file. */
static gyre_status read_earlier(struct gyre_durable *durable, const struct gyre_record_open *mine)
{
    size_t size = 0;
    if (durable->file.file < 0)
        return GYRE_OK;
    gyre_status status = gyre_journal_file_read(&durable->file, &durable->data, &size);
    if (status == GYRE_OK)
        status = gyre_journal_read(durable->data, size, &durable->content);
    if (status != GYRE_OK)
        return gyre_error_add(
            status,
            "the journal '%s' cannot be used; restore it from a copy, or move it away to begin "
            "without the state and the requests that it keeps",
            durable->file.path);
    status = compare_opened(mine, &durable->content.open, durable->file.path);
    if (status != GYRE_OK)
        return status;
    if (durable->content.open.state_size && !durable->content.state)
        return gyre_error_set(
            GYRE_INVALID,
            "the journal '%s' is damaged before its first whole checkpoint: the state that it kept is lost, and "
            "its requests alone cannot make it; restore the file from a copy, or move it away to begin with the "
            "initial state",
            durable->file.path);
    status = durable->together ? gyre_together_check(durable) : gyre_upgrade_content(durable, mine);
    if (status != GYRE_OK)
        return status;
    note_recovered(durable);
    tell_recovered(durable);
    return GYRE_OK;
}

static struct gyre_durable *create(gyre_kernel *kernel, const char *section)
{
    struct gyre_durable *durable = calloc(1, sizeof *durable);
    if (!durable)
        return NULL;
    durable->kernel = kernel;
    durable->sync = (enum gyre_durable_sync)gyre_kernel_queue_setting(kernel, section, "fsync");
    durable->sync_ns = gyre_config_ns(kernel->runtime->config, GYRE_SECTION_QUEUE, section, "fsync_ms");
    durable->size_max = (uint64_t)gyre_kernel_queue_setting(kernel, section, "journal_size");
    pthread_mutex_init(&durable->lock, NULL);
    return durable;
}

/* Describes what the journal is of. */
static gyre_status describe(struct gyre_durable *durable, const gyre_kernel *kernel,
                            const struct gyre_kernel_face *face, const char *queue,
                            struct gyre_record_open *mine)
{
    if (face->kept) {
        const gyre_status status = gyre_together_describe(durable, kernel, face, queue);
        if (status == GYRE_OK)
            *mine = durable->together->open;
        return status;
    }
    const gyre_status status = identify(kernel, queue, mine);
    return status == GYRE_OK ? describe_types(durable) : status;
}

gyre_status gyre_durable_open(gyre_kernel *kernel, const struct gyre_kernel_face *face, gyre_queue_desc *desc,
                              const char *section, struct gyre_durable **out)
{
    struct gyre_record_open mine = {.version = GYRE_JOURNAL_VERSION};
    *out = NULL;
    if (!gyre_kernel_queue_setting(kernel, section, "durability"))
        return GYRE_OK;
    const struct gyre_config *config = kernel->runtime->config;
    gyre_status status = gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "durability",
                                           check_kernel(kernel, face->kept != NULL, desc->name));
    if (status == GYRE_OK)
        status = gyre_queue_plan_journal(config, section, kernel->record, kernel->name);
    if (status != GYRE_OK)
        return status;
    struct gyre_durable *durable = create(face->kept ? face->kept->leader : kernel, section);
    if (!durable)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a journal");
    status = describe(durable, kernel, face, desc->name, &mine);
    if (status == GYRE_OK)
        status = open_file(kernel, desc->name, durable);
    if (status == GYRE_OK)
        status = read_earlier(durable, &mine);
    if (status != GYRE_OK) {
        gyre_durable_end(durable);
        gyre_durable_free(durable);
        return status;
    }
    if (durable->data)
        desc->first_sequence = durable->content.received;
    *out = durable;
    return GYRE_OK;
}

uint64_t gyre_durable_log_count(const struct gyre_durable *durable)
{
    const struct gyre_journal_content *content = &durable->content;
    uint64_t covered = content->covered > content->first ? content->covered : content->first;
    return durable->data && content->received > covered ? content->received - covered + 1 : 1;
}

/* ---- going on ---- */

/* Says in the records of new files what they are of; the journal has put in the sizes. */
static gyre_status put_names_in(struct gyre_durable *durable, const gyre_queue *queue)
{
    struct gyre_record_open *open = &durable->journal.open;
    if (!durable->together)
        return identify(durable->kernel, gyre_queue_name(queue), open);
    const uint32_t request_size = open->request_size, reply_size = open->reply_size,
                   header_size = open->header_size;
    *open = durable->together->open;
    open->request_size = request_size;
    open->reply_size = reply_size;
    open->header_size = header_size;
    return GYRE_OK;
}

gyre_status gyre_durable_attach(struct gyre_durable *durable, gyre_queue *queue)
{
    uint64_t every = durable->kernel->checkpoints ? durable->kernel->checkpoints->every_messages : UINT64_MAX;
    gyre_view_for(queue)->durable = durable;
    durable->queue = queue;
    gyre_status status = gyre_journal_init(&durable->journal, &gyre_journal_file_disk, &durable->file, queue);
    if (status == GYRE_OK)
        status = put_names_in(durable, queue);
    durable->journal.types = durable->types;
    durable->journal.type_count = durable->type_count;
    if (status != GYRE_OK || !durable->data)
        return status;
    status = check_header(durable, queue);
    if (!durable->together)
        gyre_queue_set_sent_shift(queue, gyre_keyed_clock_shift(durable->kernel, durable->content.state));
    if (status == GYRE_OK)
        status = gyre_journal_restore(&durable->content, queue);
    if (status == GYRE_OK) { /* later files carry the names on */
        durable->journal.names = durable->content.names;
        durable->content.names = (struct gyre_names){0};
    }
    if (status == GYRE_OK && gyre_log_of(queue)->keeps)
        gyre_queue_log_resume(queue, durable->content.covered, every);
    return status;
}

/* Describes the kernel as it is now. The journal's thread writes no file meanwhile. */
static gyre_status describe_anew(struct gyre_durable *durable)
{
    pthread_mutex_lock(&durable->lock);
    durable->type_count = 0;
    gyre_status status = describe_types(durable);
    if (status == GYRE_OK)
        status = identify(durable->kernel, gyre_queue_name(durable->queue), &durable->journal.open);
    durable->journal.type_count = durable->type_count;
    pthread_mutex_unlock(&durable->lock);
    return status;
}

/* The journal of a queue that the kernel has to itself: its pipeline sees to that of an entry. */
static struct gyre_durable *own_durable(const gyre_queue *queue)
{
    return gyre_view_of(queue)->of_pipeline ? NULL : gyre_view_of(queue)->durable;
}

gyre_status gyre_durable_adapt(gyre_kernel *kernel, bool back)
{
    gyre_status status = GYRE_OK;
    for (gyre_queue *queue = gyre_kernel_first_queue(kernel); status == GYRE_OK && queue;
         queue = gyre_view_of(queue)->next) {
        struct gyre_durable *durable = own_durable(queue);
        if (gyre_view_of(queue)->of_pipeline)
            continue;
        status = durable ? describe_anew(durable) : GYRE_OK;
        if (status == GYRE_OK && back && durable)
            gyre_durable_take_back(durable);
        else if (status == GYRE_OK)
            status = gyre_durable_begin_queue(queue);
    }
    return status;
}

const unsigned char *gyre_durable_state(const gyre_kernel *kernel)
{
    for (const gyre_queue *queue = gyre_kernel_first_queue(kernel); queue; queue = gyre_view_of(queue)->next)
        if (own_durable(queue) && own_durable(queue)->content.state)
            return own_durable(queue)->content.state;
    return NULL;
}

void gyre_durable_forget(gyre_kernel *kernel)
{
    for (gyre_queue *queue = gyre_kernel_first_queue(kernel); queue; queue = gyre_view_of(queue)->next)
        if (own_durable(queue))
            gyre_durable_forget_queue(own_durable(queue));
}

gyre_status gyre_queue_recovered(const gyre_queue *queue, gyre_recovered *recovered)
{
    gyre_recovered now = {0};
    if (!queue || !recovered || recovered->size < sizeof recovered->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_queue_recovered needs a queue and a report with its size set");
    if (gyre_view_of(queue)->durable) {
        now = gyre_view_of(queue)->durable->recovered;
    } else if (gyre_foreign_of(queue)->tells_covered ||
               gyre_foreign_of(queue)
                   ->tells_durable) { /* for an attached client: what the last client of its name left */
        now.first = gyre_ring_of(queue)->first_sequence;
        now.offered = gyre_foreign_of(queue)->left;
    } else {
        return gyre_error_set(GYRE_INVALID, "queue '%s' has no journal: set durability = journal for it",
                              gyre_queue_name(queue));
    }
    gyre_info_give(recovered, &now, sizeof now);
    return GYRE_OK;
}
