/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings a kernel from its last checkpoint back to the present. Restores the device's memory, and lets the device handle the
 * requests since the checkpoint again, in their order. These requests go through a queue of their own (the target), so their
 * second replies reach no client, and the slots of the kernel's queues do not change.
 *
 * Runs in the thread that set turn.starting. Lock: kernel->lock for the queue table and for counts that other threads read, not
 * while the device works.
 */
#include "core/durability/replay.h"

#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/witness.h"
#include "core/kernel/control.h"
#include "core/kernel/keeper.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/queue_table.h"
#include "core/kernel/spans.h"
#include "core/queue/bells.h"
#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/stages/again.h"
#include "core/stages/log.h"

#define LOOK_NS UINT64_C(20000)

/* `incarnation` NULL: in the worker process that there is. */
static gyre_status restore(gyre_kernel *kernel, const uint64_t *incarnation)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    gyre_status status = GYRE_OK;
    if (!checkpoints->part_count)
        return GYRE_OK;
    const unsigned char *source = gyre_store_last(&checkpoints->store);
    if (!source)
        return gyre_error_set(GYRE_INTERNAL,
                              "the last checkpoint of kernel '%s' is damaged: its hash is not what it was",
                              kernel->name);
    for (uint32_t i = 0; status == GYRE_OK && i < checkpoints->part_count; i++) {
        const struct gyre_checkpoint_part *part = &checkpoints->parts[i];
        gyre_transfer_desc upload = {.size = sizeof upload,
                                     .kind = GYRE_TRANSFER_UPLOAD,
                                     .memory = part->memory,
                                     .byte_count = part->size,
                                     .source = source};
        status = incarnation ? gyre_dispatch_transfer_in(kernel->dispatch, &upload, *incarnation)
                             : gyre_dispatch_transfer(kernel->dispatch, &upload);
        source += part->size;
    }
    return status;
}

gyre_status gyre_replay_restore(gyre_kernel *kernel)
{
    return restore(kernel, NULL);
}

gyre_status gyre_replay_restore_in(gyre_kernel *kernel, uint64_t incarnation)
{
    return restore(kernel, &incarnation);
}

/* The end of the requests that may have to be handled again. The device handles later requests in the normal way. */
static uint64_t end_of(const gyre_kernel *kernel, const gyre_queue *queue)
{
    return gyre_kernel_repeats_in_order(kernel, queue) ? gyre_queue_first_unanswered(queue)
                                                       : gyre_queue_next_index(queue);
}

static bool has_something(const gyre_kernel *kernel, const gyre_queue *queue)
{
    uint64_t index = 0;
    struct gyre_logged_request request = {.payload = kernel->checkpoints->request};
    return gyre_queue_log_next(queue, &index, end_of(kernel, queue), &request);
}

bool gyre_replay_prepare(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    bool any = false;
    for (const gyre_queue *queue = gyre_kernel_first_queue(kernel); checkpoints && queue && !any;
         queue = gyre_view_of(queue)->next)
        any = !gyre_view_of(queue)->of_pipeline && has_something(kernel, queue);
    if (!any)
        return false;
    checkpoints->replaying = true;
    gyre_again_empty(checkpoints->replay);
    gyre_kernel_show_only(kernel, checkpoints->replay);
    gyre_control_order(kernel, GYRE_VERB_RUN);
    return true;
}

/* ---- handling again ---- */

struct replay {
    gyre_kernel *kernel;
    gyre_queue *source, *target;
    uint64_t index, end; /* in the source, the queue whose requests are handled again */
    struct gyre_logged_request request;
    bool held;                          /* `request` waits for room in the target */
    uint64_t sources[REPLAY_SLOTS_MAX]; /* the source's index of the request in each slot of the target */
    bool (*watch)(void *context, uint64_t deadline_ns);
    void *context;
};

/* Sends requests into the target. False when none could be sent. */
static bool send_requests(struct replay *replay)
{
    uint64_t count = 0;
    while (replay->held ||
           gyre_queue_log_next(replay->source, &replay->index, replay->end, &replay->request)) {
        gyre_spans_settle(replay->kernel, replay->request.payload, replay->request.length);
        uint64_t place = gyre_queue_next_index(replay->target) % REPLAY_SLOTS_MAX;
        replay->held = !gyre_queue_put_logged(replay->target, &replay->request);
        if (replay->held)
            break;
        replay->sources[place] = replay->index;
        replay->index++;
        count++;
    }
    if (count)
        gyre_queue_ring_doorbell(replay->target, count);
    return count > 0;
}

/* Compares the second replies with the first replies, and drops them. Returns the number of dropped replies. */
static uint64_t discard_replies(const struct replay *replay)
{
    gyre_view views[64];
    uint64_t count = 0;
    size_t found = 0;
    gyre_error_hold();
    while (gyre_peek(replay->target, views, sizeof views / sizeof views[0], &found, GYRE_NO_WAIT) ==
           GYRE_OK) {
        for (size_t i = 0; i < found; i++)
            gyre_witness_compare(replay->kernel, replay->source,
                                 replay->sources[views[i].index % REPLAY_SLOTS_MAX], &views[i]);
        gyre_release_views(replay->target, found);
        count += found;
    }
    gyre_error_let_go();
    return count;
}

static gyre_status stands_still(const struct replay *replay, uint64_t budget_ns)
{
    const gyre_kernel *kernel = replay->kernel;
    gyre_dispatch_kill(kernel->dispatch, "over handler_budget_ms while requests were handled again");
    return gyre_error_set(GYRE_LOST,
                          "a handler of kernel '%s' runs for longer than handler_budget_ms = %llu while "
                          "requests are handled again",
                          kernel->name, (unsigned long long)(budget_ns / 1000000));
}

static void count_answered(gyre_kernel *kernel, uint64_t answered)
{
    if (!answered)
        return;
    pthread_mutex_lock(&kernel->lock);
    __atomic_fetch_add(&kernel->checkpoints->replayed, answered, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&kernel->lock);
}

/* Handles all requests of one queue again. */
static gyre_status replay_queue(struct replay *replay)
{
    gyre_kernel *kernel = replay->kernel;
    uint64_t budget =
        gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "handler_budget_ms");
    uint64_t moved_ns = gyre_clock_ns(), under_way = 0;
    for (;;) {
        uint64_t before = gyre_queue_next_index(replay->target);
        if (GYRE_FAULT_POINT(RECOVERY_REPLAY))
            gyre_dispatch_kill(kernel->dispatch, "a fault point said so");
        bool moved = send_requests(replay);
        under_way += gyre_queue_next_index(replay->target) - before;
        uint64_t answered = discard_replies(replay);
        under_way -= answered;
        count_answered(kernel, answered);
        if (!under_way && !moved && !replay->held)
            return GYRE_OK;
        if (moved || answered)
            moved_ns = gyre_clock_ns();
        else if (!replay->watch(replay->context, gyre_clock_ns() + LOOK_NS))
            return gyre_error_set(
                GYRE_LOST, "the device of kernel '%s' died while requests were handled again", kernel->name);
        if (budget && gyre_clock_ns() - moved_ns > budget)
            return stands_still(replay, budget);
    }
}

static gyre_queue *first_queue(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    gyre_queue *queue = gyre_kernel_first_queue(kernel);
    pthread_mutex_unlock(&kernel->lock);
    return queue;
}

gyre_status gyre_replay_check(gyre_kernel *kernel)
{
    const gyre_queue *damaged = NULL;
    pthread_mutex_lock(&kernel->lock);
    for (const gyre_queue *queue = gyre_kernel_first_queue(kernel); queue && !damaged;
         queue = gyre_view_of(queue)->next)
        if (!gyre_view_of(queue)->of_pipeline && gyre_queue_log_is_damaged(queue, end_of(kernel, queue)))
            damaged = queue;
    if (damaged)
        gyre_error_set(
            GYRE_INCOMPATIBLE,
            "what kernel '%s' kept cannot be brought back: a worker process overwrote requests of queue "
            "'%s' that would have to be handled again since the last checkpoint",
            kernel->name, gyre_queue_name(damaged));
    pthread_mutex_unlock(&kernel->lock);
    return damaged ? GYRE_INCOMPATIBLE : GYRE_OK;
}

gyre_status gyre_replay_run(gyre_kernel *kernel, bool (*watch)(void *context, uint64_t deadline_ns),
                            void *context)
{
    gyre_status status = GYRE_OK;
    /* the list does not change: other threads get their turn when the kernel runs again */
    for (gyre_queue *queue = first_queue(kernel); status == GYRE_OK && queue;
         queue = gyre_view_of(queue)->next) {
        if (gyre_view_of(queue)->of_pipeline)
            continue; /* lead.c repeats its requests, when the pipeline has its links */
        struct replay replay = {.kernel = kernel,
                                .source = queue,
                                .target = kernel->checkpoints->replay,
                                .end = end_of(kernel, queue),
                                .request = {.payload = kernel->checkpoints->request},
                                .watch = watch,
                                .context = context};
        status = replay_queue(&replay);
    }
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    kernel->checkpoints->replaying = false;
    pthread_mutex_unlock(&kernel->lock);
    return GYRE_OK;
}

/* ---- after an earlier run of the program ---- */

struct launched {
    gyre_kernel *kernel;
    gyre_resident *resident;
};

static bool watch_launched(void *context, uint64_t deadline_ns)
{
    const struct launched *launched = context;
    const gyre_kernel *kernel = launched->kernel;
    uint64_t now = gyre_clock_ns();
    if (now < deadline_ns)
        nanosleep(&(struct timespec){0, (long)(deadline_ns - now)}, NULL);
    return gyre_dispatch_is_current(kernel->dispatch, launched->resident) &&
           (gyre_dispatch_isolated(kernel->dispatch) ||
            !__atomic_load_n(&kernel->control->device.lost, __ATOMIC_ACQUIRE));
}

gyre_status gyre_replay_start(gyre_kernel *kernel, gyre_resident *resident)
{
    struct launched launched = {kernel, resident};
    if (!gyre_replay_prepare(kernel))
        return GYRE_OK;
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_dispatch_notify(kernel->dispatch, resident);
    if (status == GYRE_OK)
        status = gyre_replay_run(kernel, watch_launched, &launched);
    pthread_mutex_lock(&kernel->lock);
    __atomic_store_n(&kernel->control->queues[0].address, 0, __ATOMIC_RELEASE);
    return status;
}
