/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the watchdog: a thread of the runtime that looks for kernels whose handler does not return (stall.c), logs them, and
 * ends their worker processes where on_stall says so. The first kernel that has to be watched starts the thread.
 *
 * The watchdog's clock stands while the program is stopped (SIGSTOP, a debugger, a frozen container or virtual machine): worker
 * processes are mostly stopped as well, so no handler used its budget meanwhile.
 *
 * A kernel without a budget is watched with stall_told_ms, and a stall is only logged.
 *
 * The same thread copies what kernels count into the observation file of the process, as often as [observe] says. Between two such
 * looks it samples what the blocks of kernels that handle messages are at (busy.h).
 *
 * Locks: watchdog.lock for the thread's own members; kernel->lock for a look, not while the watchdog acts. Kernels are
 * visited, so none is freed meanwhile.
 */
#include "core/recovery/watchdog_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/threads.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/busy.h"
#include "core/kernel/control.h"
#include "core/kernel/visit.h"
#include "core/observation/observation.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/recovery/keep_record.h"
#include "core/recovery/stall.h"
#include "core/ring/bytes.h"

enum { LOOKS_PER_BUDGET = 8, ROOM_LEAST = 16 };
#define LOOK_LEAST_NS UINT64_C(1000000)
#define LOOK_MOST_NS  UINT64_C(5000000000)
/*
 * Samples are so far apart, at random between both: a load that comes in equal steps is not met at the same point of each step. They take
 * one part of SAMPLE_PARTS of a processor at most, where there are very many kernels.
 */
#define SAMPLE_LEAST_NS UINT64_C(5000000)
#define SAMPLE_MOST_NS  UINT64_C(15000000)
enum { SAMPLE_PARTS = 200 };

enum on_stall { ON_STALL_REPORT = 0, ON_STALL_RESTART = 1, ON_STALL_STOP = 2 };

/* ---- doing something about it ---- */

static void tell_over_budget(const gyre_kernel *kernel, uint64_t budget, enum on_stall what, bool isolated)
{
    gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                     "kernel '%s' is stalled: a handler runs for longer than handler_budget_ms = %llu%s",
                     kernel->name, (unsigned long long)(budget / 1000000),
                     what == ON_STALL_REPORT ? ""
                     : isolated              ? "; its worker process is ended"
                                             : "; nothing can end it here (isolation = none)");
}

static void tell_without_budget(const gyre_kernel *kernel, uint64_t limit)
{
    struct gyre_dispatch *const device = kernel->dispatch;
    const bool isolated = gyre_dispatch_isolated(device);
    const bool may_be_isolated =
        isolated || gyre_dispatch_device_info(device)->knows_links & GYRE_LINKING_WORKER;
    gyre_runtime_log(
        kernel->runtime, GYRE_LOG_WARNING,
        "kernel '%s' is stalled: for longer than stall_told_ms = %llu at the same messages. A handler runs for "
        "long, or its device is busy; %shandler_budget_ms%s would end it",
        kernel->name, (unsigned long long)(limit / 1000000), may_be_isolated ? "" : "outside of pipelines ",
        isolated ? "" : " and isolation = process");
}

static void act_on_stall(gyre_kernel *kernel, struct gyre_stall_limit patience)
{
    enum on_stall what = (enum on_stall)gyre_kernel_setting(kernel, "on_stall");
    bool isolated = gyre_dispatch_isolated(kernel->dispatch);
    char reason[96];
    if (patience.is_budget)
        tell_over_budget(kernel, patience.limit_ns, what, isolated);
    else
        tell_without_budget(kernel, patience.limit_ns);
    if (!patience.is_budget || what == ON_STALL_REPORT || !isolated)
        return;
    pthread_mutex_lock(&kernel->lock);
    kernel->care->watch.doomed = what == ON_STALL_STOP ? kernel->starts : 0;
    pthread_mutex_unlock(&kernel->lock);
    snprintf(reason, sizeof reason, "over handler_budget_ms = %llu",
             (unsigned long long)(patience.limit_ns / 1000000));
    gyre_dispatch_kill(kernel->dispatch, reason);
}

/* Returns whether a stall began. */
static bool watch_kernel(gyre_kernel *kernel, struct gyre_stall_limit patience)
{
    uint64_t now = gyre_watch_now(kernel->runtime);
    bool newly = false, over = false;
    pthread_mutex_lock(&kernel->lock);
    gyre_stall_look_at_blocks(kernel, now);
    if (!kernel->resident || (gyre_control_verb(kernel) != GYRE_VERB_RUN && !kernel->paused_to_save)) {
        gyre_stall_forget(kernel);
    } else {
        bool stalls = gyre_kernel_stalls(kernel, now, patience.limit_ns);
        newly = stalls && !kernel->care->watch.stalled;
        over = !stalls && kernel->care->watch.stalled;
        kernel->care->watch.stalled = stalls;
        kernel->tally.stalls += newly;
    }
    pthread_mutex_unlock(&kernel->lock);
    if (newly)
        act_on_stall(kernel, patience);
    if (over)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "kernel '%s' goes on: its handler came back",
                         kernel->name);
    return newly;
}

/* ---- the thread ---- */

/* Leaves a long gap out of the watchdog's time. Looks for stalls are `stall_pause_ns` apart, up to twice that on a busy machine;
 * during a longer gap the program was stopped. */
static void leave_out(struct gyre_watchdog *watchdog, uint64_t due_ns)
{
    const uint64_t now = gyre_clock_ns(), late = watchdog->stall_pause_ns;
    if (now > due_ns + late)
        __atomic_fetch_add(&watchdog->missed_ns, now - due_ns - late, __ATOMIC_RELAXED);
}

/* Visits kernels into memory that the watchdog keeps, so that a program that allocates nothing is not disturbed. Kernels that
 * find no room in that memory wait for the next look. */
static size_t visit_all(gyre_runtime *runtime, const struct gyre_watchdog *watchdog)
{
    const size_t count = gyre_kernels_visit_some(runtime, watchdog->kernels, watchdog->room);
    return count < watchdog->room ? count : watchdog->room;
}

static void make_room_for_kernels(gyre_runtime *runtime, struct gyre_watchdog *watchdog)
{
    size_t count = gyre_kernels_visit_some(runtime, NULL, 0);
    const size_t room = count < ROOM_LEAST / 2 ? ROOM_LEAST : 2 * count;
    if (count < watchdog->room)
        return;
    gyre_kernel **grown = realloc(watchdog->kernels, room * sizeof *grown);
    if (!grown)
        return;
    watchdog->kernels = grown;
    watchdog->room = room;
}

static uint64_t sample_pause(struct gyre_watchdog *watchdog, uint64_t cost_ns)
{
    watchdog->sample_random =
        watchdog->sample_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t pause =
        SAMPLE_LEAST_NS + (watchdog->sample_random >> 33) % (SAMPLE_MOST_NS - SAMPLE_LEAST_NS);
    return pause > SAMPLE_PARTS * cost_ns ? pause : SAMPLE_PARTS * cost_ns;
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec spent = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

/* Looks what the blocks of all kernels are at. Samples are taken until a sample finds that all kernels rest. */
static void sample_all(gyre_runtime *runtime)
{
    struct gyre_watchdog *watchdog = runtime->watchdog;
    const uint64_t begun = thread_cpu_ns();
    bool again = false;
    const size_t count = visit_all(runtime, watchdog);
    for (size_t i = 0; i < count; i++) {
        again |= gyre_kernel_busy_look(watchdog->kernels[i], gyre_clock_ns());
        gyre_kernel_leave(watchdog->kernels[i]);
    }
    watchdog->sample_ns = again ? gyre_clock_ns() + sample_pause(watchdog, thread_cpu_ns() - begun) : 0;
}

/* Whether the counts of kernels are due in the observation file. Sets how long until they are due again. */
static bool is_observation_due(const gyre_runtime *runtime, struct gyre_watchdog *watchdog, uint64_t *pause)
{
    const uint64_t every = gyre_observation_every_ns(gyre_runtime_observation(runtime));
    const uint64_t now = gyre_clock_ns();
    if (!every)
        return false;
    const bool due = now >= watchdog->observe_ns;
    if (due)
        watchdog->observe_ns = now + every;
    if (watchdog->observe_ns - now < *pause)
        *pause = watchdog->observe_ns - now;
    return due;
}

static uint64_t look_at_all(gyre_runtime *runtime)
{
    struct gyre_watchdog *watchdog = runtime->watchdog;
    uint64_t pause = LOOK_MOST_NS, observe_pause = LOOK_MOST_NS;
    const bool observes = is_observation_due(runtime, watchdog, &observe_pause);
    make_room_for_kernels(runtime, watchdog);
    if (observes && !watchdog->sample_ns)
        sample_all(runtime);
    const size_t count = visit_all(runtime, watchdog);
    for (size_t i = 0; i < count; i++) {
        gyre_kernel *kernel = watchdog->kernels[i];
        const struct gyre_stall_limit patience = gyre_stall_limit_of(kernel);
        if (patience.limit_ns && watch_kernel(kernel, patience))
            gyre_record_want(runtime);
        if (patience.limit_ns && patience.limit_ns / LOOKS_PER_BUDGET < pause)
            pause = patience.limit_ns / LOOKS_PER_BUDGET;
        gyre_record_look(runtime, kernel);
    }
    const bool keeps = gyre_record_is_due(runtime); /* then the file says what is so now */
    for (size_t i = 0; i < count; i++) {
        if (observes || keeps)
            runtime->observe(watchdog->kernels[i]);
        gyre_kernel_leave(watchdog->kernels[i]);
    }
    if (observes || keeps)
        runtime->observe_links(runtime);
    if (observes)
        gyre_observation_beat(gyre_runtime_observation(runtime));
    if (keeps)
        gyre_record_keep(runtime);
    watchdog->stall_pause_ns = pause > LOOK_LEAST_NS ? pause : LOOK_LEAST_NS;
    pause = watchdog->stall_pause_ns < observe_pause ? watchdog->stall_pause_ns : observe_pause;
    return pause > LOOK_LEAST_NS ? pause : LOOK_LEAST_NS;
}

/* Until the next look at all kernels is due, or a new kernel has to be looked at. Under watchdog->lock, but not while it samples. */
static void wait_for_look(gyre_runtime *runtime, uint64_t due)
{
    struct gyre_watchdog *watchdog = runtime->watchdog;
    while (!watchdog->stop && !watchdog->look) {
        const bool samples = watchdog->sample_ns && watchdog->sample_ns < due;
        const struct timespec until = gyre_clock_timespec(samples ? watchdog->sample_ns : due);
        if (pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &until) != ETIMEDOUT)
            continue;
        if (!samples)
            return;
        pthread_mutex_unlock(&watchdog->lock);
        sample_all(runtime);
        pthread_mutex_lock(&watchdog->lock);
    }
}

static void *watch_kernels(void *argument)
{
    gyre_runtime *runtime = argument;
    struct gyre_watchdog *watchdog = runtime->watchdog;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->stop) {
        watchdog->look = false;
        pthread_mutex_unlock(&watchdog->lock);
        const uint64_t pause = look_at_all(runtime), due = gyre_clock_ns() + pause;
        pthread_mutex_lock(&watchdog->lock);
        wait_for_look(runtime, due);
        leave_out(watchdog, due);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

gyre_status gyre_watchdog_create(struct gyre_watchdog **out)
{
    struct gyre_watchdog *watchdog = *out = calloc(1, sizeof *watchdog);
    if (!watchdog)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a runtime");
    pthread_mutex_init(&watchdog->lock, NULL);
    gyre_clock_condition(&watchdog->changed);
    return GYRE_OK;
}

static gyre_status start_thread(gyre_runtime *runtime)
{
    struct gyre_watchdog *watchdog = runtime->watchdog;
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&watchdog->lock);
    if (!watchdog->runs)
        make_room_for_kernels(runtime, watchdog);
    if (!watchdog->runs)
        status = gyre_thread_need(&watchdog->thread, watch_kernels, runtime, "for the watchdog");
    watchdog->runs = status == GYRE_OK;
    watchdog->look = true; /* the pause may be too long for the new kernel */
    pthread_cond_broadcast(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    return status;
}

/* Without a thread that looks at the kernel, its counts stay out of the file; it is launched all the same. */
static gyre_status go_on_unobserved(const gyre_runtime *runtime)
{
    gyre_runtime_log(runtime, GYRE_LOG_WARNING, "kernels cannot be observed from outside: %s",
                     gyre_error_text());
    gyre_error_clear();
    return GYRE_OK;
}

gyre_status gyre_watchdog_need(gyre_kernel *kernel)
{
    const bool has_limit = gyre_stall_limit_of(kernel).limit_ns != 0;
    gyre_runtime *runtime = kernel->runtime;
    gyre_runtime_observe(runtime);
    if (!has_limit && !gyre_runtime_observation(runtime))
        return GYRE_OK;
    if (has_limit) {
        pthread_mutex_lock(&kernel->lock);
        kernel->care->watch.blocks = kernel->care->blocks;
        gyre_stall_forget(kernel);
        pthread_mutex_unlock(&kernel->lock);
    }
    const gyre_status status = start_thread(runtime);
    if (gyre_runtime_observation(runtime))
        runtime->observe(kernel); /* at once: the next look at all kernels may be far */
    return status == GYRE_OK || has_limit ? status : go_on_unobserved(runtime);
}

void gyre_watchdog_stop(struct gyre_watchdog *watchdog)
{
    if (!watchdog)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stop = true;
    bool runs = watchdog->runs;
    pthread_cond_broadcast(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    if (runs)
        pthread_join(watchdog->thread, NULL);
}

void gyre_watchdog_destroy(struct gyre_watchdog *watchdog)
{
    if (!watchdog)
        return;
    free(watchdog->kernels);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
}
