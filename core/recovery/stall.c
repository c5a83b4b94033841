/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects a handler that does not return within its budget (the time that a handler may take).
 *
 * The first unanswered request of a queue stays the same while its handler runs. A kernel with one block stalls when no
 * request of any queue was answered for the time of the budget. With several blocks each queue is judged alone. If a block
 * claimed the queue's first unanswered request, that block works on it, because every earlier request is answered: the queue
 * stalls after one budget. Where blocks share requests in another way, the queue stalls after ten budgets. It stalls after one
 * budget if the backend saw a block at the same messages during that time. The blocks' lines in the control region tell which
 * block it is.
 *
 * A request whose reply may lack room in the ring waits for its receiver, not for its handler. Such a queue is judged only
 * while a block says that it works.
 *
 * A request of a pipeline is answered when its whole flow is through: its age is that of all stages, and of all calls of one. So
 * a stage, whether requests enter at it or not, is judged by what its blocks say alone.
 *
 * Lock: kernel->lock.
 */
#include "core/recovery/stall.h"

#include "core/base/clock.h"
#include "core/kernel/control.h"
#include "core/kernel/node.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/recovery/watchdog.h"
#include "core/ring/bytes.h"

enum { PATIENCE = 10, PARTS_OF_BUDGET = 8 };

struct gyre_stall_limit gyre_stall_limit_of(const gyre_kernel *kernel)
{
    const struct gyre_config *config = kernel->runtime->config;
    uint64_t budget = gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "handler_budget_ms");
    uint64_t told = gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "stall_told_ms");
    return (struct gyre_stall_limit){budget ? budget : told, budget != 0};
}

uint64_t gyre_watch_now(const gyre_runtime *runtime)
{
    return gyre_clock_ns() - __atomic_load_n(&runtime->watchdog->missed_ns, __ATOMIC_RELAXED);
}

/* True when a reply may wait for room in the ring: replies lie back to back and some were not received, or another program
 * receives them. */
static bool may_lack_room(const gyre_queue *queue, uint64_t first_unanswered)
{
    return gyre_ring_of(queue)->bytes && gyre_ring_of(queue)->bytes->replies &&
           (gyre_foreign_of(queue)->lent || gyre_received(queue) < first_unanswered);
}

uint64_t gyre_stall_works_ns(const gyre_kernel *kernel, uint32_t block, uint64_t now)
{
    const gyre_control_block *line = &gyre_control_blocks(kernel)[block];
    const uint64_t tells = __atomic_load_n(&line->tells, __ATOMIC_RELAXED);
    if (tells == GYRE_TELLS_TIME)
        return __atomic_load_n(&line->working_ns, __ATOMIC_RELAXED);
    const bool works = tells && kernel->care->watch.blocks && kernel->care->watch.blocks[block].working;
    return works ? gyre_time_since(kernel->care->watch.blocks[block].since_ns, now) : 0;
}

static bool works_for(const gyre_kernel *kernel, uint64_t now, uint64_t limit_ns)
{
    for (uint32_t i = 0; i < kernel->blocks; i++)
        if (gyre_stall_works_ns(kernel, i, now) >= limit_ns)
            return true;
    return false;
}

/* True when the backend tells times, and saw a block at the same messages for longer than the budget. */
static bool is_seen_at_work(const gyre_kernel *kernel, uint64_t budget)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    for (uint32_t i = 0; i < kernel->blocks; i++)
        if (__atomic_load_n(&lines[i].tells, __ATOMIC_RELAXED) == GYRE_TELLS_TIME &&
            __atomic_load_n(&lines[i].working_ns, __ATOMIC_RELAXED) >= budget)
            return true;
    return false;
}

/* True when the device has to work on the queue's first unanswered request. Notes when that request became the first. */
static bool look_at_queue(const gyre_kernel *kernel, gyre_queue *queue, uint64_t now, uint64_t budget,
                          bool *moved)
{
    uint64_t first = gyre_queue_first_unanswered(queue);
    if (first != gyre_view_of(queue)->watched ||
        gyre_view_of(queue)->watched_ns == 0) { /* 0: this is the first look */
        gyre_view_for(queue)->watched = first;
        gyre_view_for(queue)->watched_ns = now;
        *moved = true;
    }
    bool waits = first < gyre_queue_next_index(queue) && first < gyre_view_of(queue)->gate &&
                 (!may_lack_room(queue, first) || works_for(kernel, now, budget / PARTS_OF_BUDGET));
    if (!waits)
        gyre_view_for(queue)->watched_ns = now;
    return waits;
}

/* True when the queue's first request exceeded its time, if the look at the whole kernel does not tell. */
static bool queue_stalls(const gyre_kernel *kernel, const gyre_queue *queue, uint64_t now, uint64_t budget)
{
    uint64_t age = gyre_time_since(gyre_view_of(queue)->watched_ns, now);
    uint64_t claimed = __atomic_load_n(&gyre_ring_of(queue)->shared->claim.next, __ATOMIC_RELAXED);
    if (kernel->blocks > 1 && claimed > gyre_view_of(queue)->watched)
        return age >= budget;
    return age >= (is_seen_at_work(kernel, budget) ? budget : PATIENCE * budget);
}

/* No request was looked at before `now`. */
static void forget_queues(gyre_kernel *kernel, uint64_t now)
{
    kernel->care->watch.moved_ns = now;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_view_for(queue)->watched_ns = now;
}

bool gyre_kernel_stalls(gyre_kernel *kernel, uint64_t now, uint64_t budget)
{
    if (gyre_node_is_stage(kernel)) {
        forget_queues(kernel, now);
        return works_for(kernel, now, budget);
    }
    bool moved = false, waits = false, stalls = false;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        bool this_waits = look_at_queue(kernel, queue, now, budget, &moved);
        waits = waits || this_waits;
        stalls = stalls || (this_waits && queue_stalls(kernel, queue, now, budget));
    }
    if (moved || !waits)
        kernel->care->watch.moved_ns = now;
    return stalls || (waits && gyre_time_since(kernel->care->watch.moved_ns, now) >= budget);
}

void gyre_stall_look_at_blocks(gyre_kernel *kernel, uint64_t now)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    for (uint32_t i = 0; kernel->care->watch.blocks && i < kernel->blocks; i++) {
        const uint64_t working = __atomic_load_n(&lines[i].working, __ATOMIC_RELAXED);
        const uint64_t handled = __atomic_load_n(&lines[i].handled, __ATOMIC_RELAXED);
        struct gyre_watched_block *watched = &kernel->care->watch.blocks[i];
        if (working != watched->working || handled != watched->handled)
            *watched = (struct gyre_watched_block){working, handled, now};
    }
}

void gyre_stall_forget(gyre_kernel *kernel)
{
    uint64_t now = gyre_watch_now(kernel->runtime);
    kernel->care->watch.stalled = false;
    for (uint32_t i = 0; kernel->care->watch.blocks && i < kernel->blocks; i++)
        kernel->care->watch.blocks[i].since_ns = now;
    forget_queues(kernel, now);
}
