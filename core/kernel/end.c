/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the device side of a kernel down. One thread at a time does so (turn.ending). Other threads that want the device side
 * down wait for that thread and share its result. Lock: kernel->lock, given up while a thread waits for the device.
 */
#include "core/kernel/end.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/binding.h"
#include "core/kernel/control.h"
#include "core/kernel/help.h"
#include "core/kernel/keeper.h"
#include "core/kernel/turn.h"
#include "core/queue/end.h"
#include "core/queue/label.h"
#include "core/queue/progress.h"
#include "core/queue/state.h"

enum { DRAIN_POLL_NS = 20000 };

static bool work_is_left(const gyre_kernel *kernel)
{
    if (gyre_control_verb(kernel) != GYRE_VERB_RUN || gyre_control_is_lost(kernel))
        return false;
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_queue_outstanding(queue))
            return true;
    return false;
}

/* Lets an active kernel handle the accepted requests until the deadline, which other threads may bring forward. */
static void drain_queues(gyre_kernel *kernel)
{
    while (work_is_left(kernel)) {
        uint64_t now = gyre_clock_ns(), next = now + DRAIN_POLL_NS;
        if (now >= kernel->end.drain_deadline_ns)
            break;
        struct timespec until = gyre_clock_timespec(next);
        pthread_cond_timedwait(&kernel->changed, &kernel->lock, &until);
    }
}

/* Waits until the device has left, and releases the resident (the launched kernel on the device). After a failure other than
 * LOST the resident stays, because the device may still run. */
static gyre_status leave_device(gyre_kernel *kernel)
{
    gyre_resident *resident = kernel->resident;
    const uint64_t command = gyre_control_last(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_control_left(kernel, resident, command);
    pthread_mutex_lock(&kernel->lock);
    if (status == GYRE_OK)
        gyre_keeper_left(kernel);
    if (status == GYRE_LOST && gyre_dispatch_isolated(kernel->dispatch))
        status = GYRE_OK; /* the worker died with all blocks in it: the kernel has left */
    if (status == GYRE_TIMEOUT)
        return gyre_error_add(
            status,
            "kernel '%s' did not stop in time (stop_timeout_ms; launch_timeout_ms outside of handlers)",
            kernel->name);
    if (status != GYRE_OK && status != GYRE_LOST)
        return gyre_error_add(status, "whether kernel '%s' has stopped is not known", kernel->name);
    kernel->resident = NULL; /* first: so that no thread notifies a device that is being released */
    gyre_kernel_await_helpers(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_dispatch_release(kernel->dispatch, resident);
    gyre_kernel_let_buffers_go(kernel);
    pthread_mutex_lock(&kernel->lock);
    return status;
}

static gyre_status lost_in_drain(const gyre_kernel *kernel)
{
    return gyre_error_set(GYRE_LOST, "the worker process of kernel '%s' died and could not be replaced",
                          kernel->name);
}

/* Takes the device side down. This thread set `ending`. */
static void end_device(gyre_kernel *kernel)
{
    uint64_t left = 0;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_queue_close_sends(queue);
    gyre_kernel_set_state(kernel, GYRE_KERNEL_STOPPING);
    drain_queues(kernel);
    while (kernel->turn.starting) /* the worker died during the drain, and the kernel is being revived */
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    if (gyre_control_verb(kernel) != GYRE_VERB_STOP)
        gyre_control_order(kernel, GYRE_VERB_STOP);
    gyre_status status = kernel->resident ? leave_device(kernel) : lost_in_drain(kernel);
    if (!kernel->resident) {
        for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
            left += gyre_queue_complete_unhandled(queue);
        gyre_kernel_set_state(kernel, status == GYRE_LOST ? GYRE_KERNEL_LOST : GYRE_KERNEL_TERMINATED);
    }
    kernel->end.status = status;
    kernel->end.unhandled = left;
}

/* Waits for another thread that ends the kernel. If this thread's deadline is earlier, that thread stops draining earlier. */
static void join_end(gyre_kernel *kernel, uint64_t drain_deadline_ns)
{
    kernel->turn.inside++;
    while (kernel->turn.ending) {
        if (drain_deadline_ns < kernel->end.drain_deadline_ns) {
            kernel->end.drain_deadline_ns = drain_deadline_ns;
            pthread_cond_broadcast(&kernel->changed);
        }
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    }
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
}

/* The result of another thread's end, as an error of this thread. */
static gyre_status tell_end(const gyre_kernel *kernel)
{
    if (kernel->end.status == GYRE_OK)
        return GYRE_OK;
    return gyre_error_set(kernel->end.status, "kernel '%s' is %s: its end by another thread failed (%s)",
                          kernel->name, gyre_kernel_state_word(gyre_kernel_get_state(kernel)),
                          gyre_status_word(kernel->end.status));
}

gyre_status gyre_kernel_end(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    bool joined = false;
    while (gyre_kernel_is_taken(kernel)) {
        joined = kernel->turn.ending;
        if (joined)
            join_end(kernel, drain_deadline_ns);
        else
            gyre_kernel_await_turn(kernel);
    }
    if (!joined && !kernel->resident)
        return GYRE_OK;
    if (!joined) {
        kernel->turn.ending = true;
        kernel->end.drain_deadline_ns = drain_deadline_ns;
        end_device(kernel);
        kernel->turn.ending = false;
        pthread_cond_broadcast(&kernel->changed);
    }
    if (unhandled)
        *unhandled = kernel->end.unhandled;
    return joined ? tell_end(kernel) : kernel->end.status;
}
