/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activate, deactivate, terminate, relaunch. One such operation on a kernel at a time (kernel->lock);
 * messages flow meanwhile, and no wait of a sender or receiver keeps a stop out.
 */
#include <stdlib.h>
#include <time.h>

#include "core/base/error.h"
#include "core/runtime/runtime.h"

enum { DRAIN_POLL_NS = 20000 };

static gyre_status check_kernel(const gyre_kernel *kernel, const char *call)
{
    return kernel ? GYRE_OK : gyre_error_set(GYRE_INVALID, "%s needs a kernel", call);
}

/* Only a kernel that is resident and not on its way out can be paused or resumed. */
static gyre_status change_verb(gyre_kernel *kernel, uint64_t verb, gyre_kernel_state state,
                               uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    gyre_kernel_state now = gyre_kernel_get_state(kernel);
    if (now != GYRE_KERNEL_ACTIVE && now != GYRE_KERNEL_INACTIVE)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s; relaunch it first", kernel->name,
                              gyre_kernel_state_word(now));
    if (gyre_control_verb(kernel) != verb)
        gyre_control_order(kernel, verb);
    gyre_kernel_set_state(kernel, state);
    status = gyre_control_acknowledged(kernel, deadline_ns);
    if (status == GYRE_LOST)
        gyre_kernel_set_state(kernel, GYRE_KERNEL_LOST);
    return status;
}

gyre_status gyre_kernel_activate(gyre_kernel *kernel, uint64_t deadline_ns)
{
    gyre_status status = check_kernel(kernel, "gyre_kernel_activate");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = change_verb(kernel, GYRE_VERB_RUN, GYRE_KERNEL_ACTIVE, deadline_ns);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

gyre_status gyre_kernel_deactivate(gyre_kernel *kernel, uint64_t deadline_ns)
{
    gyre_status status = check_kernel(kernel, "gyre_kernel_deactivate");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = change_verb(kernel, GYRE_VERB_PAUSE, GYRE_KERNEL_INACTIVE, deadline_ns);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

static uint64_t outstanding(const gyre_kernel *kernel)
{
    uint64_t count = 0;
    for (const gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        count += gyre_queue_outstanding(queue);
    return count;
}

/* Lets an active kernel work off what was accepted, until the deadline. */
static void drain(const gyre_kernel *kernel, uint64_t deadline_ns)
{
    while (gyre_control_verb(kernel) == GYRE_VERB_RUN && outstanding(kernel) &&
           gyre_clock_ns() < deadline_ns && !__atomic_load_n(&kernel->control->device.lost, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){0, DRAIN_POLL_NS}, NULL);
}

/* Waits until the device has left and takes its side down; the kernel stays "stopping" when a handler does
 * not return. */
static gyre_status leave_device(gyre_kernel *kernel)
{
    uint64_t limit =
        gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "stop_timeout_ms");
    gyre_status status = gyre_dispatch_wait(kernel->dispatch, kernel->resident, gyre_clock_ns() + limit);
    if (status == GYRE_TIMEOUT)
        return gyre_error_add(status, "kernel '%s' did not stop within stop_timeout_ms", kernel->name);
    gyre_dispatch_release(kernel->dispatch, kernel->resident);
    kernel->resident = NULL;
    gyre_kernel_hold_buffers(kernel, false);
    return status;
}

static gyre_status terminate(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    uint64_t left = 0;
    if (!kernel->resident)
        return GYRE_OK;
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        gyre_queue_close_sends(queue);
    gyre_kernel_set_state(kernel, GYRE_KERNEL_STOPPING);
    drain(kernel, drain_deadline_ns);
    if (gyre_control_verb(kernel) != GYRE_VERB_STOP)
        gyre_control_order(kernel, GYRE_VERB_STOP);
    gyre_status status = leave_device(kernel);
    if (status == GYRE_TIMEOUT)
        return status;
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        left += gyre_queue_complete_unhandled(queue);
    gyre_kernel_set_state(kernel, status == GYRE_LOST ? GYRE_KERNEL_LOST : GYRE_KERNEL_TERMINATED);
    *unhandled = left;
    return status;
}

gyre_status gyre_kernel_terminate(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    uint64_t left = 0;
    gyre_status status = check_kernel(kernel, "gyre_kernel_terminate");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = terminate(kernel, drain_deadline_ns, &left);
    pthread_mutex_unlock(&kernel->lock);
    if (unhandled)
        *unhandled = left;
    return status;
}

/* Nobody will serve them: what was accepted since they were reopened is reported, and sends are refused
 * again. */
static void refuse_sends(const gyre_kernel *kernel)
{
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next) {
        gyre_queue_close_sends(queue);
        gyre_queue_complete_unhandled(queue);
    }
}

gyre_status gyre_kernel_relaunch(gyre_kernel *kernel)
{
    gyre_status status = check_kernel(kernel, "gyre_kernel_relaunch");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    if (gyre_kernel_get_state(kernel) != GYRE_KERNEL_TERMINATED) {
        status = gyre_error_set(GYRE_INVALID, "kernel '%s' is %s; only a terminated kernel can be relaunched",
                                kernel->name, gyre_kernel_state_word(gyre_kernel_get_state(kernel)));
    } else {
        gyre_kernel_rewind_queues(kernel);
        kernel->launched_ns = gyre_clock_ns();
        status = gyre_kernel_start(kernel, true);
        if (status != GYRE_OK && !kernel->resident)
            refuse_sends(kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
