/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks blocks with slow handlers to count each message (count_soon.h). A block that is a thread counts when it leaves a batch, of up to 256
 * messages: where each takes 30 ms, that is once in eight seconds, and until then the kernel seems to handle nothing.
 *
 * A block leaves its batch after the present message when a client sleeps at the queue, which the client's word `waiting` says. So
 * whoever wants the counts says the same. Quick messages pay nothing: nobody asks while a kernel is quick. Slow ones pay a wake-up
 * that wakes nobody, a microsecond in at least 250.
 *
 * Lock: kernel->lock.
 */
#include "core/kernel/count_soon.h"

#include "core/base/clock.h"
#include "core/kernel/control.h"
#include "core/queue/queue.h"

/* Messages a second and block below which it is asked, and above which no more: batches of 256 are short then. */
enum { SLOW = 1000, QUICK = 4000 };
#define WINDOW_NS UINT64_C(250000000) /* least time in which a kernel's speed is judged */

/* Whether a block is at messages that it counts by itself; blocks of a GPU are told by their backend, and count often. */
static bool is_at_work(const gyre_kernel *kernel)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    for (uint32_t i = 0; i < kernel->blocks; i++)
        if (__atomic_load_n(&lines[i].tells, __ATOMIC_RELAXED) == 1 &&
            __atomic_load_n(&lines[i].working, __ATOMIC_RELAXED))
            return true;
    return false;
}

static void ask(gyre_queue *queue, bool wanted)
{
    bool *const asked = &gyre_view_for(queue)->seen.counts_soon;
    if (*asked == wanted)
        return;
    *asked = wanted;
    __atomic_fetch_add(&gyre_ring_of(queue)->shared->host.waiting, wanted ? 1 : (gyre_u32)-1,
                       __ATOMIC_RELAXED); /* a block that sees it a message later counts a message later */
}

void gyre_kernel_count_soon(gyre_kernel *kernel, uint64_t handled)
{
    struct gyre_kernel_pace *const pace = &kernel->pace;
    const uint64_t now = gyre_clock_ns(), spent_ns = now - pace->looked_ns;
    if (!pace->looked_ns || handled < pace->handled) {
        *pace = (struct gyre_kernel_pace){.looked_ns = now, .handled = handled, .slow = pace->slow};
    } else if (spent_ns >= WINDOW_NS) {
        const double each = (double)(handled - pace->handled) * 1e9 / (double)spent_ns / kernel->blocks;
        pace->slow = is_at_work(kernel) && each < (pace->slow ? QUICK : SLOW);
        pace->looked_ns = now;
        pace->handled = handled;
    }
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        ask(queue, pace->slow);
}

void gyre_kernel_count_as_usual(gyre_queue *queue)
{
    ask(queue, false);
}
