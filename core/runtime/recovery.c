/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the death of a worker process: reaped already, so nothing writes into the rings but their clients.
 * Another worker is started, and every kernel is launched again, resumed at its first unanswered request.
 *
 * A request that was the only unanswered one that the worker could see has taken it down. While there were
 * several, the first unanswered one of each queue is suspected; when a worker dies again with the same
 * suspect, requests are handed out so that it is alone (careful.c). After poison_limit deaths while it was
 * alone it is failed.
 *
 * All of it runs in the keeper's thread. Locks: kernel->lock, never while something is waited for. From the
 * death until a kernel runs again it has `starting`, so that nobody else takes it up or down.
 */
#include "core/runtime/recovery.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/queue/resume.h"
#include "core/runtime/checkpoint.h"
#include "core/plan/shape.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"
#include "core/ring/express.h"
#include "gyre/waiting.h"

enum {
    BACKOFF_DOUBLINGS_MAX = 10,
    DOUBTS_MAX = 4 /* times poison_limit: a request that was never alone is failed nevertheless */
};
#define BACKOFF_MAX_NS  UINT64_C(1000000000)
#define MEMORY_AGAIN_NS UINT64_C(10000000) /* until memory that was not there is asked for again */

/* ---- taking kernels out of service ---- */

/* Handlers that keep something between messages can be run again for a message only from a checkpoint on. */
static bool cannot_repeat(const gyre_kernel *kernel)
{
    return gyre_record_keeps_something(kernel->record) && !kernel->checkpoints;
}

/* What the dead worker's blocks counted. Under the lock. */
static void add_counts(gyre_kernel *kernel)
{
    gyre_control_block *blocks = (gyre_control_block *)(kernel->control + 1);
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        kernel->revival.handled_before += __atomic_load_n(&blocks[i].handled, __ATOMIC_RELAXED);
        kernel->revival.failed_before += __atomic_load_n(&blocks[i].failed, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].handled, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].failed, 0, __ATOMIC_RELAXED);
    }
}

/* Who waits may wait for a reply that is there: the worker died before it rang. */
static void wake_waiting(const gyre_kernel *kernel)
{
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_bell_ring(&gyre_ring_of(queue)->shared->device.bell, INT_MAX);
}

/*
 * A kernel that ran in the dead worker. One that is being launched is left to the thread that does it, which
 * finds out by itself; one that was told to stop has stopped, and whoever ends or frees it finds that out.
 */
static void suspend(gyre_kernel *kernel)
{
    gyre_resident *dead = NULL;
    pthread_mutex_lock(&kernel->lock);
    bool stopping =
        (kernel->turn.ending || kernel->end.leaving) && gyre_control_verb(kernel) == GYRE_VERB_STOP;
    if (kernel->resident && !kernel->turn.starting && !stopping) {
        dead = kernel->resident;
        kernel->resident = NULL;
        kernel->turn.starting = kernel->revival.runs = kernel->revival.seen = true;
        kernel->revival.restarts++;
        kernel->generation++;
        kernel->revival.verb = kernel->paused_to_save ? GYRE_VERB_RUN : gyre_control_verb(kernel);
        kernel->paused_to_save = false;
        add_counts(kernel);
    } else if (kernel->revival.runs) {
        kernel->revival.restarts++; /* the next one died before it was said to run */
    }
    wake_waiting(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_dispatch_release(kernel->dispatch, dead);
}

/* Nobody brings it back any more. Returns how many requests are left unanswered. */
static uint64_t end_revival(gyre_kernel *kernel, const char *why)
{
    uint64_t left = 0;
    pthread_mutex_lock(&kernel->lock);
    snprintf(kernel->losses.why, sizeof kernel->losses.why, "%s", why);
    __atomic_store_n(&kernel->control->device.lost, 1, __ATOMIC_RELEASE);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        gyre_kernel_set_gate(queue, UINT64_MAX);
        gyre_queue_close_sends(queue);
        left += gyre_queue_complete_unhandled(queue);
    }
    gyre_kernel_set_state(kernel, GYRE_KERNEL_LOST);
    gyre_kernel_let_buffers_go(kernel);
    kernel->turn.starting = kernel->revival.runs = false;
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    return left;
}

static void give_up(gyre_kernel *kernel, const char *why)
{
    uint64_t left = end_revival(kernel, why);
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s' is lost with %llu unanswered requests: %s",
                     kernel->name, (unsigned long long)left, why);
    gyre_supervisor_notice(kernel->runtime);
}

static void give_up_all(const struct gyre_recovery *recovery, const char *why)
{
    for (size_t i = 0; i < recovery->count; i++)
        if (recovery->kernels[i]->revival.runs)
            give_up(recovery->kernels[i], why);
}

/* ---- who was it ---- */

/* What the worker saw when it died. */
struct sight {
    uint64_t answered; /* requests, of all kernels: for comparing two deaths */
    uint64_t visible;  /* unanswered requests, counted to two */
    uint32_t crashes;  /* the most that one suspect was there for */
    gyre_kernel *kernel;
    gyre_queue *queue; /* of the request, when it was the only one */
};

/* Its sender is told; nobody else can, as the slot does not say any more whose it is. Under the lock. */
static void fail_damaged(gyre_kernel *kernel, gyre_queue *queue)
{
    const uint64_t count = gyre_queue_fail_damaged(queue);
    kernel->revival.condemned += (uint32_t)count;
    if (count)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_WARNING,
            "kernel '%s', queue '%s': %llu unanswered requests are failed, because the worker process that "
            "died had overwritten them",
            kernel->name, gyre_queue_name(queue), (unsigned long long)count);
}

static void look_at_queue(gyre_kernel *kernel, gyre_queue *queue, struct sight *sight)
{
    gyre_express_settle(gyre_ring_of(queue)); /* the next device writes into slots */
    fail_damaged(kernel, queue);
    uint64_t first = gyre_queue_first_unanswered(queue);
    uint64_t visible = gyre_queue_count_unanswered(queue, gyre_view_of(queue)->gate, 2);
    sight->answered += first;
    if (!visible || !kernel->revival.seen || (kernel->checkpoints && kernel->checkpoints->replaying))
        return; /* it did not see them */
    if (gyre_view_of(queue)->suspect != first)
        gyre_view_for(queue)->suspect_crashes = gyre_view_for(queue)->alone_crashes = 0;
    gyre_view_for(queue)->suspect_crashes++;
    gyre_view_for(queue)->suspect = first;
    if (gyre_view_of(queue)->suspect_crashes > sight->crashes)
        sight->crashes = gyre_view_of(queue)->suspect_crashes;
    sight->visible += visible;
    sight->kernel = kernel;
    sight->queue = queue;
}

/* Under the lock of its kernel. */
static void condemn(gyre_kernel *kernel, gyre_queue *queue, uint32_t times, const char *reason)
{
    char text[sizeof((gyre_failure *)NULL)->text];
    if (snprintf(text, sizeof text, "crashed %ux: %s", times, reason) >= (int)sizeof text)
        snprintf(text, sizeof text, "crashed %ux, the log says of what", times);
    gyre_runtime_log(/* before its sender knows: who then looks into the log finds it */
                     kernel->runtime, GYRE_LOG_WARNING,
                     "kernel '%s', queue '%s': the request with index %llu is failed, because its handler took the worker "
                     "process down %u times: %s",
                     kernel->name, gyre_queue_name(queue), (unsigned long long)gyre_view_of(queue)->suspect,
                     times, reason);
    gyre_queue_fail(queue, gyre_view_of(queue)->suspect, GYRE_FAILURE_CRASH, text);
    gyre_view_for(queue)->suspect_crashes = gyre_view_for(queue)->alone_crashes = 0;
    kernel->revival.condemned++;
}

/* The only request that the worker saw was there once more. */
static void accuse(gyre_kernel *kernel, gyre_queue *queue, const char *reason)
{
    uint32_t limit = (uint32_t)gyre_kernel_setting(kernel, "poison_limit");
    pthread_mutex_lock(&kernel->lock);
    if (++gyre_view_for(queue)->alone_crashes >= limit)
        condemn(kernel, queue, gyre_view_of(queue)->alone_crashes, reason);
    pthread_mutex_unlock(&kernel->lock);
}

/* Fails requests that were there too often without ever being alone. */
static void condemn_doubtful(gyre_kernel *kernel, const char *reason)
{
    uint32_t limit = (uint32_t)gyre_kernel_setting(kernel, "poison_limit");
    pthread_mutex_lock(&kernel->lock);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_view_of(queue)->suspect_crashes >= DOUBTS_MAX * limit)
            condemn(kernel, queue, gyre_view_of(queue)->suspect_crashes, reason);
    pthread_mutex_unlock(&kernel->lock);
}

/* A worker that answered a request had launched the kernel, even if it died before it said so. Under the lock. */
static void forget_refusals(gyre_kernel *kernel)
{
    uint64_t answered = 0;
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        answered += gyre_queue_first_unanswered(queue);
    if (answered != kernel->revival.answered)
        kernel->revival.refusals = 0;
    kernel->revival.answered = answered;
}

/* Finds the culprit or a suspect, and notes whether anything was answered since the last death. */
static void investigate(const struct gyre_recovery *recovery, const char *reason)
{
    struct gyre_open_device *device = recovery->device;
    struct sight sight = {0};
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        pthread_mutex_lock(&kernel->lock);
        for (gyre_queue *queue = kernel->queues.first; kernel->revival.runs && queue;
             queue = gyre_view_of(queue)->next)
            look_at_queue(kernel, queue, &sight);
        forget_refusals(kernel);
        kernel->revival.seen = false;
        pthread_mutex_unlock(&kernel->lock);
    }
    device->futile = sight.answered == device->answered ? device->futile + 1 : 1;
    device->answered = sight.answered;
    if (sight.visible == 1) {
        accuse(sight.kernel, sight.queue, reason);
    } else if (sight.crashes > 1) {
        device->careful = true;
        for (size_t i = 0; i < recovery->count; i++)
            condemn_doubtful(recovery->kernels[i], reason);
    }
}

/* ---- going on ---- */

static bool watch_worker(void *context, uint64_t deadline_ns)
{
    gyre_kernel *kernel = context;
    return gyre_dispatch_watch(kernel->dispatch, deadline_ns);
}

/* Under the lock: the queues as they are now, and what the kernel was told to do last. */
static void show_all(gyre_kernel *kernel, uint64_t verb)
{
    gyre_kernel_write_table(kernel, true);
    gyre_control_order(kernel, verb);
}

/* Launches the kernel, with its state, and lets it handle again what is not in its last checkpoint. */
static gyre_status launch_again(gyre_kernel *kernel, bool replays, uint64_t verb, gyre_resident **out)
{
    gyre_status status = replays ? gyre_replay_check(kernel) : GYRE_OK;
    if (status == GYRE_OK && kernel->checkpoints)
        status = gyre_replay_restore(kernel);
    if (status != GYRE_OK)
        return status;
    (void)GYRE_FAULT_POINT(RECOVERY_LAUNCH);
    kernel->revival.seen = true;
    status = gyre_kernel_launch_device(kernel, false, out);
    if (status != GYRE_OK || !replays)
        return status;
    status = gyre_replay_run(kernel, watch_worker, kernel);
    pthread_mutex_lock(&kernel->lock);
    if (status == GYRE_OK) {
        __atomic_store_n(&kernel->control->queues[0].address, 0, __ATOMIC_RELEASE); /* the replay's */
        show_all(kernel, verb);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status == GYRE_OK ? gyre_dispatch_notify(kernel->dispatch, *out) : status;
}

static uint64_t restart_limit(const gyre_kernel *kernel)
{
    return (uint64_t)gyre_config_int(kernel->runtime->config, GYRE_SECTION_BACKEND,
                                     gyre_dispatch_backend(kernel->dispatch), "restart_limit");
}

/*
 * Whether another worker may do what this one could not. The kernel ran before, so what a device says now
 * (it lacks memory, it is busy with other programs, it does not answer) is no property of the kernel. It is
 * believed when worker after worker says so, even if other kernels get on meanwhile.
 */
static bool may_pass(gyre_kernel *kernel, gyre_status status)
{
    bool about_kernel = status == GYRE_INVALID || status == GYRE_INCOMPATIBLE || status == GYRE_UNIMPLEMENTED;
    return !about_kernel && ++kernel->revival.refusals <= restart_limit(kernel);
}

gyre_status gyre_recovery_resume(gyre_kernel *kernel)
{
    gyre_resident *resident = NULL;
    pthread_mutex_lock(&kernel->lock);
    uint64_t verb = kernel->checkpoints ? kernel->revival.verb : gyre_control_verb(kernel);
    gyre_control_reset(kernel);
    bool replays = gyre_replay_prepare(kernel);
    if (!replays)
        show_all(kernel, verb);
    pthread_mutex_unlock(&kernel->lock);
    gyre_handles_refresh(kernel);
    gyre_spans_relocate(kernel);
    gyre_status status = launch_again(kernel, replays, verb, &resident);
    if (status != GYRE_OK && status != GYRE_LOST && !resident)
        kernel->revival.seen = false; /* no request is to be accused of what the device refused */
    if (status != GYRE_OK)
        gyre_dispatch_release(kernel->dispatch, resident);
    if (status == GYRE_LOST)
        return status;
    if (status != GYRE_OK && may_pass(kernel, status)) {
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
        gyre_dispatch_kill(kernel->dispatch, "it could not launch a kernel again");
        return GYRE_LOST;
    }
    if (status != GYRE_OK) {
        give_up(kernel, gyre_error_text());
        return status;
    }
    pthread_mutex_lock(&kernel->lock);
    kernel->resident = resident;
    kernel->revival.refusals = 0;
    kernel->turn.starting = kernel->revival.runs = false;
    gyre_watchdog_forget(kernel); /* which may not have looked while the kernel was away */
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    return GYRE_OK;
}

/* All kernels, with everything that waits for them. LOST when the worker died meanwhile. */
static gyre_status resume_all(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        if (!kernel->revival.runs)
            continue;
        pthread_mutex_lock(&kernel->lock);
        for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
            gyre_kernel_set_gate(queue, UINT64_MAX);
        pthread_mutex_unlock(&kernel->lock);
        if (gyre_recovery_resume(kernel) == GYRE_LOST)
            return GYRE_LOST;
    }
    return GYRE_OK;
}

static void suspend_all(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        suspend(kernel);
        if (kernel->revival.runs && kernel->watch.doomed)
            give_up(kernel, "a handler ran for longer than handler_budget_ms (on_stall = stop)");
        else if (kernel->revival.runs && cannot_repeat(kernel))
            give_up(kernel, "its worker process died, and what its handler keeps between messages with it");
    }
}

/* False when there were too many already. */
static bool await_turn(const struct gyre_open_device *device)
{
    const struct gyre_config *config = device->runtime->config;
    const char *name = device->candidate->name;
    uint64_t limit = (uint64_t)gyre_config_int(config, GYRE_SECTION_BACKEND, name, "restart_limit");
    uint64_t wait_ns = gyre_config_ns(config, GYRE_SECTION_BACKEND, name, "restart_backoff_ms");
    uint32_t doublings = device->futile < 2 ? 0 : device->futile - 2;
    if (device->futile > limit)
        return false;
    if (device->futile < 2)
        wait_ns = 0;
    wait_ns <<= doublings < BACKOFF_DOUBLINGS_MAX ? doublings : BACKOFF_DOUBLINGS_MAX;
    return gyre_dispatch_pause(device->dispatch, wait_ns < BACKOFF_MAX_NS ? wait_ns : BACKOFF_MAX_NS);
}

/* One attempt. AGAIN: the new worker died, too. */
static gyre_status try_once(struct gyre_recovery *recovery)
{
    struct gyre_open_device *device = recovery->device;
    char reason[160];
    gyre_dispatch_bury(device->dispatch);
    gyre_dispatch_reason(device->dispatch, reason, sizeof reason);
    gyre_runtime_log(device->runtime, GYRE_LOG_WARNING, "the worker process of backend '%s' died: %s",
                     device->candidate->name, reason);
    suspend_all(recovery);
    investigate(recovery, reason);
    if (!await_turn(device)) {
        give_up_all(recovery, "the worker process died too often in a row (restart_limit), or is to end");
        return GYRE_LOST;
    }
    gyre_status status = gyre_dispatch_revive(device->dispatch);
    if (status == GYRE_OK) {
        gyre_handles_relocate(device->runtime, device->dispatch);
        status = device->careful ? gyre_recovery_step_by_step(recovery) : resume_all(recovery);
    } else {
        gyre_runtime_log(device->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
        status = GYRE_LOST;
    }
    return status == GYRE_LOST ? GYRE_AGAIN : GYRE_OK;
}

static bool is_among(const gyre_kernel *kernel, const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++)
        if (recovery->kernels[i] == kernel)
            return true;
    return false;
}

static void leave_all(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++)
        gyre_kernel_leave(recovery->kernels[i]);
    free(recovery->kernels);
}

/* Without memory it is tried again: nobody else tells those who wait for completions. False: the device is to end. */
static bool visit(struct gyre_recovery *recovery)
{
    const struct gyre_open_device *device = recovery->device;
    do
        recovery->kernels = gyre_kernels_visit(device->runtime, device->dispatch, &recovery->count);
    while (!recovery->kernels && gyre_dispatch_pause(device->dispatch, MEMORY_AGAIN_NS));
    return recovery->kernels != NULL;
}

/*
 * The kernels of the next attempt in place of those of the last one. One that was being brought back and is none of
 * them any more was released meanwhile: whoever frees it waits for the end of that.
 */
static bool visit_again(struct gyre_recovery *recovery)
{
    const struct gyre_recovery last = *recovery;
    bool found = visit(recovery);
    for (size_t i = 0; i < last.count; i++)
        if (last.kernels[i]->revival.runs && !is_among(last.kernels[i], recovery))
            (void)end_revival(last.kernels[i], "it was released");
    leave_all(&last);
    return found;
}

static bool recover(void *context)
{
    struct gyre_recovery recovery = {.device = context};
    gyre_status status = GYRE_AGAIN;
    while (status == GYRE_AGAIN) {
        if (!visit_again(&recovery))
            return false;
        status = try_once(&recovery);
    }
    leave_all(&recovery);
    return status == GYRE_OK;
}

void gyre_recovery_watch(struct gyre_open_device *device)
{
    gyre_dispatch_guard(device->dispatch, recover, device);
}
