/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands out requests step by step, to find the request that kills workers. The first unanswered request of the suspected
 * queue goes alone. Each further portion is twice as large, until a worker dies. A queue whose requests were all answered
 * stays open. A queue that was not tested yet is kept out of the kernel's queue table. A kernel all of whose queues were not
 * tested yet is not launched.
 *
 * Runs in the thread of the worker's keeper. Locks: kernel->lock for each step, not while the device works on the step. A
 * thread that stops or pauses the kernel meanwhile does not wait: the test ends.
 */
#include "core/base/clock.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/control.h"
#include "core/kernel/node.h"
#include "core/kernel/queue_table.h"
#include "core/recovery/careful.h"

#include "core/base/error.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/recovery/revival.h"
#include "core/recovery/stages.h"

#define LOOK_NS UINT64_C(50000)

/* A queue under test. The tester is inside the queue, so that the queue is not freed. */
struct step {
    gyre_kernel *kernel;
    gyre_queue *queue;
    uint64_t end;   /* the next index to be sent when the test began */
    uint64_t count; /* requests in the present portion */
};

/*
 * Whether the queue is left to the device while it is not tested, and its first request is hidden: blocks that move messages of links by
 * themselves do that only while they see a queue, so a stage keeps its own ones. Under the lock.
 */
static bool stays_shown(const gyre_kernel *kernel, const gyre_queue *queue)
{
    return gyre_node_is_stage(kernel) && !gyre_view_of(queue)->of_pipeline &&
           !gyre_node_facts_of(kernel).by_threads;
}

/* Under the lock: the gate of a queue that is not tested yet. One that stays shown, and has no request to test, is open. */
static void close_gate(const gyre_kernel *kernel, gyre_queue *queue)
{
    if (!stays_shown(kernel, queue))
        gyre_kernel_close_gate(queue);
    else
        gyre_kernel_set_gate(queue, gyre_queue_count_unanswered(queue, UINT64_MAX, 1)
                                        ? gyre_queue_first_unanswered(queue)
                                        : UINT64_MAX);
}

static bool is_untested(const gyre_kernel *kernel, const gyre_queue *queue)
{
    return gyre_view_of(queue)->closed ||
           (gyre_view_of(queue)->gate != UINT64_MAX && stays_shown(kernel, queue));
}

/* Under the lock: finds the closed queue whose first request was present at the most deaths. NULL: no queue is
 * closed. */
static gyre_queue *most_suspected(gyre_kernel *kernel)
{
    gyre_queue *found = NULL;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (is_untested(kernel, queue) &&
            (!found || gyre_view_of(queue)->suspect_crashes > gyre_view_of(found)->suspect_crashes))
            found = queue;
    return found;
}

static void close_gates(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        pthread_mutex_lock(&kernel->lock);
        for (gyre_queue *queue = kernel->queues.first; kernel->care->revival.runs && queue;
             queue = gyre_view_of(queue)->next)
            close_gate(kernel, queue);
        pthread_mutex_unlock(&kernel->lock);
    }
}

/* Finds the next queue to test. False when no queue is left. Compares numbers that were read under each kernel's lock: a queue
 * whose kernel runs may be closed and freed once that lock is given up. */
static bool choose_queue(const struct gyre_recovery *recovery, struct step *step)
{
    uint32_t most = 0;
    *step = (struct step){.count = 1};
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        pthread_mutex_lock(&kernel->lock);
        gyre_queue *queue = most_suspected(kernel);
        if (queue && (!step->queue || gyre_view_of(queue)->suspect_crashes > most)) {
            step->kernel = kernel;
            step->queue = queue;
            most = gyre_view_of(queue)->suspect_crashes;
        }
        pthread_mutex_unlock(&kernel->lock);
    }
    return step->queue != NULL;
}

/* Under the lock: true while the kernel has the queue, and runs. */
static bool queue_is_served(const struct step *step)
{
    const gyre_queue *queue = step->kernel->queues.first;
    while (queue && queue != step->queue)
        queue = gyre_view_of(queue)->next;
    return queue && step->kernel->resident && gyre_control_verb(step->kernel) == GYRE_VERB_RUN;
}

/*
 * Under the lock: sets the gate (the end of the requests that the device may handle) behind the next portion. The gate stands
 * at an unanswered request, because the slot of a request that was answered out of turn may soon hold a later message.
 */
static void open_portion(const struct step *step)
{
    uint64_t next = gyre_queue_first_unanswered(step->queue) + step->count;
    next = gyre_queue_next_unanswered(step->queue, next);
    gyre_kernel_set_gate(step->queue, next < step->end ? next : UINT64_MAX);
}

/* Enters the queue, so that it is not freed. False when the application has closed it, which it may at any time. */
static bool enter_queue(const struct step *step, bool *inside)
{
    pthread_mutex_lock(&step->kernel->lock);
    bool there = step->kernel->care->revival.runs || queue_is_served(step);
    if (there)
        gyre_queue_stay(step->queue, UINT64_MAX, inside);
    pthread_mutex_unlock(&step->kernel->lock);
    return there;
}

/* Shows the queue to the device: launches the kernel, or adds the queue to a kernel that runs. */
static gyre_status show_queue(struct step *step)
{
    bool launch = step->kernel->care->revival.runs;
    pthread_mutex_lock(&step->kernel->lock);
    step->end = gyre_queue_next_index(step->queue);
    open_portion(step);
    if (!launch && queue_is_served(step) && !stays_shown(step->kernel, step->queue)) {
        gyre_kernel_show_queue(step->kernel, step->queue);
        gyre_control_order(step->kernel, gyre_control_verb(step->kernel));
    }
    pthread_mutex_unlock(&step->kernel->lock);
    return launch ? gyre_recovery_resume(step->kernel) : GYRE_OK;
}

/* Lets the device handle portion after portion. LOST when its worker died. */
static gyre_status work_portions_off(struct gyre_dispatch *dispatch, struct step *step)
{
    bool done = false;
    while (!done) {
        if (!gyre_dispatch_watch(dispatch, gyre_clock_ns() + LOOK_NS))
            return gyre_error_set(GYRE_LOST, "the worker process died");
        pthread_mutex_lock(&step->kernel->lock);
        done = gyre_view_of(step->queue)->gate == UINT64_MAX
                   ? gyre_queue_first_unanswered(step->queue) >= step->end || !queue_is_served(step)
                   : !queue_is_served(step);
        if (!done && gyre_queue_first_unanswered(step->queue) >= gyre_view_of(step->queue)->gate) {
            step->count *= 2;
            open_portion(step);
        }
        if (done)
            gyre_kernel_set_gate(step->queue, UINT64_MAX);
        pthread_mutex_unlock(&step->kernel->lock);
    }
    return GYRE_OK;
}

/* Opens the queues that stayed untested because a thread stopped or paused their kernel meanwhile. */
static gyre_status open_rest(const struct gyre_recovery *recovery)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < recovery->count && status != GYRE_LOST; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        pthread_mutex_lock(&kernel->lock);
        const bool launch = kernel->care->revival.runs, runs = !launch && kernel->resident;
        for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
            const bool closed = gyre_view_of(queue)->closed;
            gyre_kernel_set_gate(queue, UINT64_MAX);
            if (closed && runs)
                gyre_kernel_show_queue(kernel, queue);
        }
        if (runs)
            gyre_control_order(kernel, gyre_control_verb(kernel));
        pthread_mutex_unlock(&kernel->lock);
        if (launch)
            status = gyre_recovery_resume(kernel);
    }
    return status;
}

gyre_status gyre_recovery_step_by_step(const struct gyre_recovery *recovery)
{
    struct step step;
    gyre_status status = GYRE_OK;
    close_gates(recovery);
    status = gyre_stages_resume(recovery);
    while (status != GYRE_LOST && choose_queue(recovery, &step)) {
        bool inside = false;
        if (!enter_queue(&step, &inside))
            break;
        status = show_queue(&step);
        if (status == GYRE_OK)
            status = work_portions_off(recovery->device->dispatch, &step);
        gyre_queue_leave(step.queue, inside);
    }
    if (status != GYRE_LOST)
        status = open_rest(recovery);
    if (status == GYRE_LOST)
        return status;
    recovery->device->careful = false;
    return GYRE_OK;
}
