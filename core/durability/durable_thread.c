/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the thread that writes a queue's journal. The thread writes and syncs requests in groups: a group is all requests that
 * came while the thread wrote the last group. It repeats a write that the disk refuses. No request is lost meanwhile, because
 * senders wait for the journal. A file that grew too large begins anew in a new file beside it, so the journal stops growing
 * while the disk still has room for that new file. Locks: durable.h.
 */
#include "core/durability/durable_thread.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/durability/checkpoint.h"
#include "core/kernel/kernel_queue.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/stages/log.h"

#define IDLE_NS  UINT64_C(20000000) /* delay until received replies are noted */
#define AGAIN_NS UINT64_C(50000000) /* between two attempts to write to a disk that refuses */
#define SOON_NS  UINT64_C(50000)    /* until the next look at a sender that copies its request */

static const struct gyre_store *store_of(const struct gyre_durable *durable)
{
    const struct gyre_checkpoints *checkpoints = durable->kernel->checkpoints;
    if (durable->together)
        return durable->together->store.size ? &durable->together->store : NULL;
    return checkpoints && checkpoints->part_count ? &checkpoints->store : NULL;
}

static bool stopped(const struct gyre_durable *durable)
{
    return __atomic_load_n(&durable->stop, __ATOMIC_ACQUIRE) != 0;
}

/* ---- under the lock ---- */

static void note_outcome(struct gyre_durable *durable, gyre_status status)
{
    const bool well = status == GYRE_OK && !durable->stuck;
    if (status != GYRE_OK && !durable->told)
        gyre_runtime_log(durable->kernel->runtime, GYRE_LOG_ERROR,
                         "queue '%s' waits for its journal, which cannot be written: %s",
                         gyre_queue_name(durable->queue), gyre_error_text());
    if (well && durable->told)
        gyre_runtime_log(durable->kernel->runtime, GYRE_LOG_WARNING,
                         "the journal of queue '%s' is written again", gyre_queue_name(durable->queue));
    durable->failing = status != GYRE_OK;
    durable->told = !well;
}

/* Queries do not have to outlive a loss of power, so a group of queries alone is not synced. A sync of a doubtful file fails: nothing in
 * it counts as durable. */
static gyre_status sync_what_is_owed(struct gyre_durable *durable)
{
    const bool owes = durable->journal.owes && durable->sync != GYRE_SYNC_NEVER;
    return owes || durable->journal.doubtful ? gyre_journal_sync(&durable->journal) : GYRE_OK;
}

/* Lets written requests leave the ring, and publishes them as durable by the setting `sync`. */
static gyre_status publish_written(struct gyre_durable *durable)
{
    gyre_queue *queue = durable->queue;
    uint64_t sent = durable->journal.sent, now = gyre_clock_ns();
    gyre_queue_log_set_journal_limit(queue, durable->journal.taken + gyre_ring_of(queue)->capacity);
    if (__atomic_load_n(&gyre_log_of(queue)->durable, __ATOMIC_RELAXED) == sent ||
        (durable->sync == GYRE_SYNC_INTERVAL && now - durable->synced_ns < durable->sync_ns))
        return GYRE_OK;
    const gyre_status status = sync_what_is_owed(durable);
    if (status != GYRE_OK)
        return status;
    durable->synced_ns = now;
    gyre_queue_log_set_durable(queue, sent);
    return GYRE_OK;
}

static bool is_behind(const struct gyre_durable *durable)
{
    const struct gyre_queue_log *log = gyre_log_of(durable->queue);
    return __atomic_load_n(&log->durable, __ATOMIC_RELAXED) != gyre_queue_next_index(durable->queue);
}

static bool needs_new_file(const struct gyre_durable *durable)
{
    return durable->journal.doubtful || durable->journal.size > durable->size_max;
}

static gyre_status renew(struct gyre_durable *durable)
{
    gyre_status status = gyre_journal_renew(&durable->journal, durable->queue, store_of(durable));
    durable->stuck = status != GYRE_OK;
    if (status == GYRE_OK) {
        durable->begun_size = durable->journal.size;
        durable->begun = durable->described;
    }
    return status;
}

static gyre_status renew_if_needed(struct gyre_durable *durable)
{
    return needs_new_file(durable) ? renew(durable) : GYRE_OK;
}

/* True when the file has grown by `times` its limit since it began anew; its first state may be larger than the limit. */
static bool has_grown(const struct gyre_durable *durable, uint64_t times)
{
    return durable->journal.size > durable->begun_size + times * durable->size_max;
}

/* For a file that outgrew its limit twice. OK while a checkpoint is being taken, with which the file begins anew. An error when
 * the file could not begin anew, because the disk had no room for a new file beside it: the journal leaves its room to that
 * file. */
static gyre_status wait_for_room(const struct gyre_durable *durable)
{
    if (!durable->stuck)
        return GYRE_OK; /* a checkpoint is being taken, and senders wait for it */
    return gyre_error_set(
        GYRE_EXHAUSTED,
        "the journal '%s' has %llu bytes, journal_size is %llu, and there is no room beside it "
        "for the new one that replaces it",
        durable->file.path, (unsigned long long)durable->journal.size, (unsigned long long)durable->size_max);
}

/* Writes a group. *more: another group can be written at once. */
static gyre_status write_group(struct gyre_durable *durable, bool *more)
{
    const bool keeps = gyre_log_of(durable->queue)->keeps;
    *more = false;
    if (keeps && has_grown(durable, 1))
        gyre_checkpoints_want(durable->kernel); /* the file begins anew with a checkpoint */
    if (keeps && has_grown(durable, 2) && (durable->stuck || !stopped(durable)))
        return wait_for_room(durable);
    gyre_status status = gyre_journal_gather(&durable->journal, durable->queue, more);
    if (!keeps) /* with checkpoints, the next checkpoint renews the file */
        status = status == GYRE_OK ? renew_if_needed(durable) : status;
    else if (durable->journal.doubtful)
        gyre_checkpoints_want(durable->kernel);
    return status == GYRE_OK ? publish_written(durable) : status;
}

/* True when senders announced requests that the journal has not written yet. */
static bool announced_more(const struct gyre_durable *durable)
{
    const struct gyre_queue_log *log = gyre_log_of(durable->queue);
    return __atomic_load_n(&log->announced, __ATOMIC_ACQUIRE) > durable->journal.sent;
}

/* True when senders wait until the journal has noted received replies. */
static bool holds_senders_up(const struct gyre_durable *durable)
{
    return gyre_queue_log_awaits_journal(durable->queue) &&
           gyre_received(durable->queue) > durable->journal.taken;
}

static uint64_t pause_length(const struct gyre_durable *durable, gyre_status status)
{
    if (status != GYRE_OK)
        return AGAIN_NS;
    if (announced_more(durable))
        return SOON_NS;
    if (durable->sync == GYRE_SYNC_INTERVAL && is_behind(durable))
        return durable->sync_ns;
    return IDLE_NS;
}

/* ---- the thread ---- */

/* Sleeps until the bell rings, or for `length_ns`. A sender rings only if it sees the thread asleep, so the thread looks once
 * more after it has announced its sleep. */
static void sleep_for(struct gyre_durable *durable, uint64_t length_ns)
{
    struct gyre_queue_log *log = gyre_log_of(durable->queue);
    uint32_t seen = __atomic_load_n(&durable->bell, __ATOMIC_ACQUIRE);
    __atomic_store_n(&log->journal_sleeps, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with the sender's in log.c */
    pthread_mutex_lock(&durable->lock);      /* another thread writes checkpoints */
    bool more = !durable->failing && (announced_more(durable) || holds_senders_up(durable));
    pthread_mutex_unlock(&durable->lock);
    if (!stopped(durable) && (!more || length_ns == SOON_NS))
        gyre_futex_wait(&durable->bell, seen, gyre_clock_ns() + length_ns);
    __atomic_store_n(&log->journal_sleeps, 0, __ATOMIC_RELAXED);
}

static void *keep_journal(void *argument)
{
    struct gyre_durable *durable = argument;
    while (!stopped(durable)) {
        bool more = false;
        pthread_mutex_lock(&durable->lock);
        const uint64_t began_ns = gyre_clock_ns();
        gyre_status status = write_group(durable, &more);
        note_outcome(durable, status);
        gyre_queue_log_note_group(durable->queue, gyre_clock_ns() - began_ns, durable->journal.size);
        uint64_t pause = pause_length(durable, status);
        pthread_mutex_unlock(&durable->lock);
        if (status != GYRE_OK || !more)
            sleep_for(durable, pause);
    }
    return NULL;
}

static gyre_status start_thread(struct gyre_durable *durable)
{
    if (durable->runs)
        return GYRE_OK;
    gyre_log_of(durable->queue)->journal_bell = &durable->bell;
    gyre_status status = gyre_thread_need(&durable->thread, keep_journal, durable,
                                          "for the journal of queue '%s'", gyre_queue_name(durable->queue));
    durable->runs = status == GYRE_OK;
    return status;
}

/* ---- from outside ---- */

gyre_status gyre_durable_begin_queue(gyre_queue *queue)
{
    struct gyre_durable *durable = gyre_view_of(queue)->durable;
    if (!durable)
        return GYRE_OK;
    pthread_mutex_lock(&durable->lock);
    gyre_status status = renew(durable);
    durable->settled = false;
    if (status != GYRE_OK && durable->recovered.offered)
        gyre_error_add(
            status,
            "a new journal is written beside the one of an earlier run, '%s', before it takes its place; "
            "make room for as much again",
            durable->file.path);
    if (status == GYRE_OK)
        status = publish_written(durable);
    if (status == GYRE_OK)
        status = start_thread(durable);
    pthread_mutex_unlock(&durable->lock);
    return status;
}

void gyre_durable_take_back(struct gyre_durable *durable)
{
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&durable->lock);
    durable->journal.stored = 0; /* the store may be another one: the next checkpoint is written whole */
    durable->settled = false;
    if (durable->begun == durable->described)
        durable->stuck = false;
    else
        status = renew(durable);
    if (status == GYRE_OK)
        status = publish_written(durable);
    else
        durable->journal.doubtful = true; /* it says that another handler answers: it has to begin anew */
    note_outcome(durable, status);
    pthread_mutex_unlock(&durable->lock);
}

gyre_status gyre_durable_begin(gyre_kernel *kernel)
{
    gyre_status status = GYRE_OK;
    for (gyre_queue *queue = gyre_kernel_first_queue(kernel); status == GYRE_OK && queue;
         queue = gyre_view_of(queue)->next)
        status = gyre_view_of(queue)->of_pipeline ? GYRE_OK : gyre_durable_begin_queue(queue);
    return status;
}

/* The first queue that the kernel has to itself: with checkpoints and a journal it has one. */
static gyre_queue *own_queue(const gyre_kernel *kernel)
{
    gyre_queue *queue = gyre_kernel_first_queue(kernel);
    while (queue && gyre_view_of(queue)->of_pipeline)
        queue = gyre_view_of(queue)->next;
    return queue;
}

bool gyre_durable_has(const gyre_kernel *kernel)
{
    const gyre_queue *queue = own_queue(kernel);
    return queue && gyre_view_of(queue)->durable && gyre_view_of(queue)->durable->runs;
}

void gyre_durable_checkpoint(gyre_kernel *kernel, bool last)
{
    pthread_mutex_lock(&kernel->lock);
    struct gyre_durable *durable = gyre_durable_has(kernel) ? gyre_view_of(own_queue(kernel))->durable : NULL;
    pthread_mutex_unlock(&kernel->lock);
    if (durable)
        gyre_durable_write(durable, last);
}

void gyre_durable_write(struct gyre_durable *durable, bool last)
{
    pthread_mutex_lock(&durable->lock);
    gyre_status status = needs_new_file(durable) ? renew(durable)
                                                 : gyre_journal_checkpoint(&durable->journal, durable->queue,
                                                                           store_of(durable), false);
    durable->settled = last && status == GYRE_OK;
    if (status == GYRE_OK)
        status = publish_written(durable);
    note_outcome(durable, status);
    pthread_mutex_unlock(&durable->lock);
}

/* Writes the last requests and received replies. */
static void write_last_group(struct gyre_durable *durable)
{
    bool more = true;
    gyre_status status = GYRE_OK;
    durable->sync_ns = 0;
    while (more && status == GYRE_OK)
        status = write_group(durable, &more);
    if (status == GYRE_OK)
        status = gyre_journal_end(&durable->journal, durable->settled);
    if (status == GYRE_OK && durable->sync != GYRE_SYNC_NEVER)
        status = gyre_journal_sync(&durable->journal);
    if (status != GYRE_OK)
        gyre_runtime_log(
            durable->kernel->runtime, GYRE_LOG_ERROR,
            "queue '%s' ends with a journal, '%s', that could not be written to its end: requests that "
            "were not durable are not in it, and replies that were taken last may be offered again",
            gyre_queue_name(durable->queue), durable->file.path);
}

void gyre_durable_end(struct gyre_durable *durable)
{
    if (!durable)
        return;
    __atomic_store_n(&durable->stop, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&durable->bell, INT_MAX);
    gyre_error_hold();
    if (durable->runs) {
        pthread_join(durable->thread, NULL);
        durable->runs = false;
        write_last_group(durable);
    }
    gyre_error_let_go();
    gyre_journal_release(&durable->journal);
    gyre_journal_content_release(&durable->content);
    gyre_journal_file_close(&durable->file);
}

void gyre_durable_free(struct gyre_durable *durable)
{
    if (!durable)
        return;
    pthread_mutex_destroy(&durable->lock);
    if (durable->together)
        gyre_store_destroy(&durable->together->store);
    free(durable->together);
    free(durable->data);
    free(durable);
}
