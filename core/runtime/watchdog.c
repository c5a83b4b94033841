/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog: a thread of the runtime, started by the first kernel with a budget, that tells kernels that
 * work from those that do not come back.
 *
 * The device keeps nothing for it. A handler that runs is seen by what does not happen: the first unanswered
 * request of a queue stays the same. With one block that is told once nothing at all was answered for the
 * time of the budget. With several it is told of the queue alone, once its first unanswered request was
 * claimed: who claimed it works on it, since everything before it is answered. Where requests are shared out
 * in another way, ten budgets without an answer tell the same.
 *
 * Locks: watchdog.lock for the thread's own members; kernel->lock for a look, not while anything is done
 * about it. Kernels are visited, so none is freed meanwhile.
 */
#include "core/runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/error.h"
#include "core/ring/replay.h"

enum { LOOKS_PER_BUDGET = 8, PATIENCE = 10 };
#define LOOK_LEAST_NS UINT64_C(1000000)
#define LOOK_MOST_NS  UINT64_C(100000000)

enum on_stall { ON_STALL_REPORT = 0, ON_STALL_RESTART = 1, ON_STALL_STOP = 2 };

static uint64_t budget_ns(const gyre_kernel *kernel)
{
    return gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "handler_budget_ms");
}

/* ---- looking ---- */

/* Whether the device has to work on the queue's first unanswered request; since when it is the same. */
static bool look_at_queue(gyre_queue *queue, uint64_t now, bool *moved)
{
    uint64_t first = gyre_queue_first_unanswered(queue);
    if (first != queue->watched) {
        queue->watched = first;
        queue->watched_ns = now;
        *moved = true;
    }
    bool waits = first < gyre_queue_next_index(queue) && first < queue->gate;
    if (!waits)
        queue->watched_ns = now;
    return waits;
}

/* A queue's request was given the time of the budget, and the look at the whole kernel did not tell. */
static bool queue_stalls(const gyre_kernel *kernel, const gyre_queue *queue, uint64_t now, uint64_t budget)
{
    uint64_t age = now - queue->watched_ns;
    uint64_t claimed = __atomic_load_n(&queue->shared->claim.next, __ATOMIC_RELAXED);
    if (kernel->blocks > 1 && claimed > queue->watched)
        return age >= budget;
    return age >= PATIENCE * budget;
}

/* Under the lock. */
static bool kernel_stalls(gyre_kernel *kernel, uint64_t now, uint64_t budget)
{
    bool moved = false, waits = false, stalls = false;
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next) {
        bool this_waits = look_at_queue(queue, now, &moved);
        waits = waits || this_waits;
        stalls = stalls || (this_waits && queue_stalls(kernel, queue, now, budget));
    }
    if (moved || !waits)
        kernel->moved_ns = now;
    return stalls || (waits && now - kernel->moved_ns >= budget);
}

void gyre_watchdog_forget(gyre_kernel *kernel)
{
    uint64_t now = gyre_clock_ns();
    kernel->stalled = false;
    kernel->moved_ns = now;
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        queue->watched_ns = now;
}

/* ---- doing something about it ---- */

static void act(gyre_kernel *kernel, uint64_t budget)
{
    enum on_stall what = (enum on_stall)gyre_kernel_setting(kernel, "on_stall");
    bool isolated = gyre_dispatch_isolated(kernel->dispatch);
    unsigned long long budget_ms = (unsigned long long)(budget / 1000000);
    char reason[96];
    gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                     "kernel '%s' is stalled: a handler runs for longer than handler_budget_ms = %llu%s",
                     kernel->name, budget_ms,
                     what == ON_STALL_REPORT ? ""
                     : isolated              ? "; its worker process is ended"
                                             : "; nothing can end it here (isolation = none)");
    if (what == ON_STALL_REPORT || !isolated)
        return;
    pthread_mutex_lock(&kernel->lock);
    kernel->doomed = what == ON_STALL_STOP;
    pthread_mutex_unlock(&kernel->lock);
    snprintf(reason, sizeof reason, "over handler_budget_ms = %llu", budget_ms);
    gyre_dispatch_kill(kernel->dispatch, reason);
}

static void watch_kernel(gyre_kernel *kernel, uint64_t budget)
{
    uint64_t now = gyre_clock_ns();
    bool newly = false;
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->resident || (gyre_control_verb(kernel) != GYRE_VERB_RUN && !kernel->paused_to_save)) {
        gyre_watchdog_forget(kernel);
    } else {
        bool stalls = kernel_stalls(kernel, now, budget);
        newly = stalls && !kernel->stalled;
        kernel->stalled = stalls;
        kernel->stalls += newly;
    }
    pthread_mutex_unlock(&kernel->lock);
    if (newly)
        act(kernel, budget);
}

/* ---- the thread ---- */

static uint64_t look_at_all(gyre_runtime *runtime)
{
    size_t count = 0;
    uint64_t pause = LOOK_MOST_NS;
    gyre_kernel **kernels = gyre_kernels_visit(runtime, NULL, &count);
    for (size_t i = 0; kernels && i < count; i++) {
        uint64_t budget = budget_ns(kernels[i]);
        if (budget)
            watch_kernel(kernels[i], budget);
        if (budget && budget / LOOKS_PER_BUDGET < pause)
            pause = budget / LOOKS_PER_BUDGET;
        gyre_kernel_leave(kernels[i]);
    }
    free(kernels);
    return pause > LOOK_LEAST_NS ? pause : LOOK_LEAST_NS;
}

static void *watch(void *argument)
{
    gyre_runtime *runtime = argument;
    struct gyre_watchdog *watchdog = &runtime->watchdog;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->stop) {
        pthread_mutex_unlock(&watchdog->lock);
        uint64_t next = look_at_all(runtime);
        next += gyre_clock_ns();
        const struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        pthread_mutex_lock(&watchdog->lock);
        while (!watchdog->stop &&
               pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &until) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

void gyre_watchdog_init(gyre_runtime *runtime)
{
    pthread_condattr_t clock;
    pthread_mutex_init(&runtime->watchdog.lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&runtime->watchdog.changed, &clock);
    pthread_condattr_destroy(&clock);
}

gyre_status gyre_watchdog_need(const gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    struct gyre_watchdog *watchdog = &runtime->watchdog;
    gyre_status status = GYRE_OK;
    if (!budget_ns(kernel))
        return GYRE_OK;
    pthread_mutex_lock(&watchdog->lock);
    if (!watchdog->runs) {
        watchdog->runs = pthread_create(&watchdog->thread, NULL, watch, runtime) == 0;
        if (!watchdog->runs)
            status =
                gyre_error_set(GYRE_EXHAUSTED, "no thread for the watchdog of kernel '%s'", kernel->name);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return status;
}

void gyre_watchdog_finish(gyre_runtime *runtime)
{
    struct gyre_watchdog *watchdog = &runtime->watchdog;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stop = true;
    bool runs = watchdog->runs;
    pthread_cond_broadcast(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    if (runs)
        pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
}

gyre_kernel_health gyre_kernel_health_of(const gyre_kernel *kernel)
{
    if (!kernel->resident)
        return GYRE_HEALTH_DEAD;
    for (const gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        if (gyre_queue_first_unanswered(queue) < gyre_queue_next_index(queue))
            return kernel->stalled ? GYRE_HEALTH_STALLED : GYRE_HEALTH_BUSY;
    return GYRE_HEALTH_IDLE;
}

const char *gyre_kernel_health_word(gyre_kernel_health health)
{
    static const char *const words[] = {"unknown", "idle", "busy", "stalled", "dead"};
    size_t index = (size_t)health;
    return index < sizeof words / sizeof words[0] ? words[index] : words[0];
}
