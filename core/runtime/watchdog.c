/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog: a thread of the runtime, started by the first kernel that is to be watched, that tells kernels
 * that work from those that do not come back.
 *
 * A handler that runs is seen by what does not happen: the first unanswered request of a queue stays the
 * same. With one block that is told once nothing at all was answered for the time of the budget. With several
 * it is told of the queue alone, once its first unanswered request was claimed: who claimed it works on it,
 * since everything before it is answered. Where requests are shared out in another way, ten budgets without
 * an answer tell the same, or one and a block that its backend saw at the same messages for as long. Which block
 * it is, the words tell that blocks leave in their lines.
 *
 * A request whose reply may lack room, which its receiver would have to make, tells nothing: of its queue only
 * a block does that says that it works.
 *
 * Its time is what passes while it looks. A program that is stopped (SIGSTOP, a debugger, a frozen container or virtual
 * machine) has workers that are stopped as well, mostly, and no handler of theirs used up its budget meanwhile.
 *
 * Without a budget a kernel is watched all the same, with more patience, and what is seen is only told.
 *
 * Locks: watchdog.lock for the thread's own members; kernel->lock for a look, not while anything is done
 * about it. Kernels are visited, so none is freed meanwhile.
 */
#include "core/runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/info.h"
#include "core/base/thread.h"
#include "core/queue/resume.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/bytes.h"

enum { LOOKS_PER_BUDGET = 8, PATIENCE = 10, ROOM_LEAST = 16 };
#define LOOK_LEAST_NS UINT64_C(1000000)
#define LOOK_MOST_NS  UINT64_C(5000000000)

enum on_stall { ON_STALL_REPORT = 0, ON_STALL_RESTART = 1, ON_STALL_STOP = 2 };

/** A block's line as it was seen last. */
struct gyre_watched_block {
    uint64_t working, handled; /* as there */
    uint64_t since_ns;         /* when that was new */
};

/** How long nothing may happen, and whether that is a budget, which something is done about. */
struct patience {
    uint64_t limit_ns;
    bool is_budget;
};

static struct patience patience_with(const gyre_kernel *kernel)
{
    const struct gyre_config *config = kernel->runtime->config;
    uint64_t budget = gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "handler_budget_ms");
    uint64_t told = gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "stall_told_ms");
    return (struct patience){budget ? budget : told, budget != 0};
}

/* ---- its time ---- */

static uint64_t watch_now(const gyre_runtime *runtime)
{
    return gyre_clock_ns() - __atomic_load_n(&runtime->watchdog.missed_ns, __ATOMIC_RELAXED);
}

/* Who looked just before the time of a stop was left out has seen a later one. */
static uint64_t time_since(uint64_t then, uint64_t now)
{
    return now > then ? now - then : 0;
}

/* Looks come `pause_ns` apart, and up to twice that on a busy machine: what is beyond did not pass. */
static void leave_out(struct gyre_watchdog *watchdog, uint64_t due_ns, uint64_t pause_ns)
{
    const uint64_t now = gyre_clock_ns();
    if (now > due_ns + pause_ns)
        __atomic_fetch_add(&watchdog->missed_ns, now - due_ns - pause_ns, __ATOMIC_RELAXED);
}

/* ---- looking ---- */

/* Replies are stored back to back, and some were not received: as far as is known of another program's. */
static bool may_lack_room(const gyre_queue *queue, uint64_t first_unanswered)
{
    return gyre_ring_of(queue)->bytes && gyre_ring_of(queue)->bytes->replies &&
           (gyre_foreign_of(queue)->lent || gyre_received(queue) < first_unanswered);
}

/* For how long a block has been at the same message, as far as it or its backend tells; 0: it is at none. */
static uint64_t works_ns(const gyre_kernel *kernel, uint32_t block, uint64_t now)
{
    const gyre_control_block *line = &gyre_control_blocks(kernel)[block];
    const uint64_t tells = __atomic_load_n(&line->tells, __ATOMIC_RELAXED);
    if (tells == GYRE_TELLS_TIME)
        return __atomic_load_n(&line->working_ns, __ATOMIC_RELAXED);
    const bool works = tells && kernel->watch.blocks && kernel->watch.blocks[block].working;
    return works ? time_since(kernel->watch.blocks[block].since_ns, now) : 0;
}

static bool works_for(const gyre_kernel *kernel, uint64_t now, uint64_t limit_ns)
{
    for (uint32_t i = 0; i < kernel->blocks; i++)
        if (works_ns(kernel, i, now) >= limit_ns)
            return true;
    return false;
}

/* A backend that tells the time saw a block at the same messages for longer than the budget. */
static bool is_seen_at_work(const gyre_kernel *kernel, uint64_t budget)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    for (uint32_t i = 0; i < kernel->blocks; i++)
        if (__atomic_load_n(&lines[i].tells, __ATOMIC_RELAXED) == GYRE_TELLS_TIME &&
            __atomic_load_n(&lines[i].working_ns, __ATOMIC_RELAXED) >= budget)
            return true;
    return false;
}

/* Whether the device has to work on the queue's first unanswered request; since when it is the same. */
static bool look_at_queue(const gyre_kernel *kernel, gyre_queue *queue, uint64_t now, uint64_t budget,
                          bool *moved)
{
    uint64_t first = gyre_queue_first_unanswered(queue);
    if (first != gyre_view_of(queue)->watched ||
        gyre_view_of(queue)->watched_ns == 0) { /* 0: not looked at before */
        gyre_view_for(queue)->watched = first;
        gyre_view_for(queue)->watched_ns = now;
        *moved = true;
    }
    bool waits = first < gyre_queue_next_index(queue) && first < gyre_view_of(queue)->gate &&
                 (!may_lack_room(queue, first) || works_for(kernel, now, budget / LOOKS_PER_BUDGET));
    if (!waits)
        gyre_view_for(queue)->watched_ns = now;
    return waits;
}

/* A queue's request was given the time of the budget, and the look at the whole kernel did not tell. */
static bool queue_stalls(const gyre_kernel *kernel, const gyre_queue *queue, uint64_t now, uint64_t budget)
{
    uint64_t age = time_since(gyre_view_of(queue)->watched_ns, now);
    uint64_t claimed = __atomic_load_n(&gyre_ring_of(queue)->shared->claim.next, __ATOMIC_RELAXED);
    if (kernel->blocks > 1 && claimed > gyre_view_of(queue)->watched)
        return age >= budget;
    return age >= (is_seen_at_work(kernel, budget) ? budget : PATIENCE * budget);
}

/* Under the lock. */
static bool kernel_stalls(gyre_kernel *kernel, uint64_t now, uint64_t budget)
{
    bool moved = false, waits = false, stalls = false;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        bool this_waits = look_at_queue(kernel, queue, now, budget, &moved);
        waits = waits || this_waits;
        stalls = stalls || (this_waits && queue_stalls(kernel, queue, now, budget));
    }
    if (moved || !waits)
        kernel->watch.moved_ns = now;
    return stalls || (waits && time_since(kernel->watch.moved_ns, now) >= budget);
}

/* Under the lock. */
static void look_at_blocks(gyre_kernel *kernel, uint64_t now)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    for (uint32_t i = 0; kernel->watch.blocks && i < kernel->blocks; i++) {
        const uint64_t working = __atomic_load_n(&lines[i].working, __ATOMIC_RELAXED);
        const uint64_t handled = __atomic_load_n(&lines[i].handled, __ATOMIC_RELAXED);
        struct gyre_watched_block *watched = &kernel->watch.blocks[i];
        if (working != watched->working || handled != watched->handled)
            *watched = (struct gyre_watched_block){working, handled, now};
    }
}

void gyre_watchdog_forget(gyre_kernel *kernel)
{
    uint64_t now = watch_now(kernel->runtime);
    kernel->watch.stalled = false;
    kernel->watch.moved_ns = now;
    for (uint32_t i = 0; kernel->watch.blocks && i < kernel->blocks; i++)
        kernel->watch.blocks[i].since_ns = now;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_view_for(queue)->watched_ns = now;
}

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
    gyre_runtime_log(
        kernel->runtime, GYRE_LOG_WARNING,
        "kernel '%s' is stalled: a handler runs for longer than stall_told_ms = %llu, and goes on; "
        "with kernel.%s.handler_budget_ms%s it would be ended",
        kernel->name, (unsigned long long)(limit / 1000000), kernel->name,
        gyre_dispatch_isolated(kernel->dispatch) ? "" : " and isolation = process");
}

static void act(gyre_kernel *kernel, struct patience patience)
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
    kernel->watch.doomed = what == ON_STALL_STOP;
    pthread_mutex_unlock(&kernel->lock);
    snprintf(reason, sizeof reason, "over handler_budget_ms = %llu",
             (unsigned long long)(patience.limit_ns / 1000000));
    gyre_dispatch_kill(kernel->dispatch, reason);
}

static void watch_kernel(gyre_kernel *kernel, struct patience patience)
{
    uint64_t now = watch_now(kernel->runtime);
    bool newly = false, over = false;
    pthread_mutex_lock(&kernel->lock);
    look_at_blocks(kernel, now);
    if (!kernel->resident || (gyre_control_verb(kernel) != GYRE_VERB_RUN && !kernel->paused_to_save)) {
        gyre_watchdog_forget(kernel);
    } else {
        bool stalls = kernel_stalls(kernel, now, patience.limit_ns);
        newly = stalls && !kernel->watch.stalled;
        over = !stalls && kernel->watch.stalled;
        kernel->watch.stalled = stalls;
        kernel->watch.stalls += newly;
    }
    pthread_mutex_unlock(&kernel->lock);
    if (newly)
        act(kernel, patience);
    if (over)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "kernel '%s' goes on: its handler came back",
                         kernel->name);
}

/* ---- the thread ---- */

/* In memory that is kept, so that a program that allocates nothing is not disturbed. Those without room are
 * looked at the next time. */
static size_t visit_all(gyre_runtime *runtime, const struct gyre_watchdog *watchdog)
{
    const size_t count = gyre_kernels_visit_some(runtime, watchdog->kernels, watchdog->room);
    return count < watchdog->room ? count : watchdog->room;
}

static void make_room(gyre_runtime *runtime, struct gyre_watchdog *watchdog)
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

static uint64_t look_at_all(gyre_runtime *runtime)
{
    struct gyre_watchdog *watchdog = &runtime->watchdog;
    uint64_t pause = LOOK_MOST_NS;
    make_room(runtime, watchdog);
    const size_t count = visit_all(runtime, watchdog);
    for (size_t i = 0; i < count; i++) {
        gyre_kernel *kernel = watchdog->kernels[i];
        const struct patience patience = patience_with(kernel);
        if (patience.limit_ns)
            watch_kernel(kernel, patience);
        if (patience.limit_ns && patience.limit_ns / LOOKS_PER_BUDGET < pause)
            pause = patience.limit_ns / LOOKS_PER_BUDGET;
        gyre_kernel_leave(kernel);
    }
    return pause > LOOK_LEAST_NS ? pause : LOOK_LEAST_NS;
}

static void *watch(void *argument)
{
    gyre_runtime *runtime = argument;
    struct gyre_watchdog *watchdog = &runtime->watchdog;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->stop) {
        watchdog->look = false;
        pthread_mutex_unlock(&watchdog->lock);
        const uint64_t pause = look_at_all(runtime), due = gyre_clock_ns() + pause;
        const struct timespec until = gyre_clock_timespec(due);
        pthread_mutex_lock(&watchdog->lock);
        while (!watchdog->stop && !watchdog->look &&
               pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &until) != ETIMEDOUT)
            ;
        leave_out(watchdog, due, pause);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

void gyre_watchdog_init(gyre_runtime *runtime)
{
    pthread_mutex_init(&runtime->watchdog.lock, NULL);
    gyre_clock_condition(&runtime->watchdog.changed);
}

static gyre_status start_thread(gyre_runtime *runtime)
{
    struct gyre_watchdog *watchdog = &runtime->watchdog;
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&watchdog->lock);
    if (!watchdog->runs)
        make_room(runtime, watchdog);
    if (!watchdog->runs)
        status = gyre_thread_need(&watchdog->thread, watch, runtime, "for the watchdog");
    watchdog->runs = status == GYRE_OK;
    watchdog->look = true; /* its pause may be too long for the new kernel */
    pthread_cond_broadcast(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    return status;
}

gyre_status gyre_watchdog_need(gyre_kernel *kernel)
{
    if (!patience_with(kernel).limit_ns)
        return GYRE_OK;
    struct gyre_watched_block *watched = calloc(kernel->blocks, sizeof *watched);
    if (!watched)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to watch kernel '%s'", kernel->name);
    pthread_mutex_lock(&kernel->lock);
    kernel->watch.blocks = watched;
    gyre_watchdog_forget(kernel);
    pthread_mutex_unlock(&kernel->lock);
    return start_thread(kernel->runtime);
}

void gyre_watchdog_release(gyre_kernel *kernel)
{
    free(kernel->watch.blocks);
    kernel->watch.blocks = NULL;
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
    free(watchdog->kernels);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
}

gyre_kernel_health gyre_kernel_health_of(const gyre_kernel *kernel)
{
    if (!kernel->resident)
        return GYRE_HEALTH_DEAD;
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_queue_first_unanswered(queue) < gyre_queue_next_index(queue))
            return kernel->watch.stalled ? GYRE_HEALTH_STALLED : GYRE_HEALTH_BUSY;
    return GYRE_HEALTH_IDLE;
}

/* ---- blocks ---- */

/* What its line says, or, where its backend does not tell, what its kernel is. Under the lock. */
static gyre_kernel_health health_of_block(const gyre_kernel *kernel, const gyre_control_block *line,
                                          const gyre_block_info *info)
{
    const gyre_kernel_health whole = gyre_kernel_health_of(kernel);
    if (whole == GYRE_HEALTH_DEAD || whole == GYRE_HEALTH_IDLE || !info->tells)
        return whole;
    if (!__atomic_load_n(&line->working, __ATOMIC_RELAXED))
        return GYRE_HEALTH_IDLE;
    const uint64_t limit = patience_with(kernel).limit_ns;
    return kernel->watch.stalled && info->still_ns >= limit ? GYRE_HEALTH_STALLED : GYRE_HEALTH_BUSY;
}

static void read_block(gyre_kernel *kernel, uint32_t block, gyre_block_info *info)
{
    const gyre_control_block *line = &gyre_control_blocks(kernel)[block];
    const uint64_t now = watch_now(kernel->runtime);
    pthread_mutex_lock(&kernel->lock);
    look_at_blocks(kernel, now);
    info->handled = __atomic_load_n(&line->handled, __ATOMIC_RELAXED);
    info->failed = __atomic_load_n(&line->failed, __ATOMIC_RELAXED);
    info->heartbeat = __atomic_load_n(&line->heartbeat, __ATOMIC_RELAXED);
    info->tells = __atomic_load_n(&line->tells, __ATOMIC_RELAXED) != 0;
    info->still_ns = works_ns(kernel, block, now);
    if (!info->still_ns && kernel->watch.blocks)
        info->still_ns = time_since(kernel->watch.blocks[block].since_ns, now);
    info->health = health_of_block(kernel, line, info);
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_kernel_block_get(gyre_kernel *kernel, uint32_t block, gyre_block_info *info)
{
    gyre_block_info now = {0};
    if (!kernel || !info || info->size < sizeof info->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_kernel_block_get needs a kernel and an info with its size set");
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_kernel_block_get");
    if (status == GYRE_OK && block >= kernel->blocks)
        status = gyre_error_set(GYRE_INVALID, "kernel '%s' has %u blocks, found block %u", kernel->name,
                                kernel->blocks, block);
    if (status != GYRE_OK)
        return status;
    read_block(kernel, block, &now);
    gyre_info_give(info, &now, sizeof now);
    return GYRE_OK;
}

const char *gyre_kernel_health_word(gyre_kernel_health health)
{
    static const char *const words[] = {"unknown", "idle", "busy", "stalled", "dead"};
    size_t index = (size_t)health;
    return index < sizeof words / sizeof words[0] ? words[index] : words[0];
}
