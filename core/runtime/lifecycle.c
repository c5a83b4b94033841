/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activate, deactivate, terminate, relaunch. Each changes the state under kernel->lock and waits for the
 * device without it, so a later one overtakes: a terminate without draining cuts another's drain short, and
 * a terminate ends the wait of a deactivate that a handler holds up.
 *
 * One thread at a time takes the device side up (`starting`) or down (`ending`); others that want it down
 * wait for that one and share its result.
 */

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/queue/end.h"
#include "core/queue/label.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/runtime/keeper.h"
#include "core/runtime/runtime.h"

enum { DRAIN_POLL_NS = 20000 };

static gyre_status check_kernel(const gyre_kernel *kernel, const char *call)
{
    return kernel ? gyre_runtime_check_own(kernel->runtime, call)
                  : gyre_error_set(GYRE_INVALID, "%s needs a kernel", call);
}

void gyre_kernel_await_turn(gyre_kernel *kernel)
{
    kernel->turn.inside++;
    __atomic_fetch_add(&kernel->turn.wanted, 1, __ATOMIC_ACQ_REL); /* a checkpoint gives way */
    while (gyre_kernel_is_taken(kernel))
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    __atomic_fetch_sub(&kernel->turn.wanted, 1, __ATOMIC_ACQ_REL);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed); /* for whoever frees the kernel */
}

/* ---- pausing ---- */

gyre_status gyre_kernel_await_obeyed(gyre_kernel *kernel, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t generation = kernel->generation;
        gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_STOP, deadline_ns);
        bool anew = kernel->checkpoints && (kernel->turn.starting || kernel->generation != generation);
        if (status != GYRE_OK || !anew)
            return status;
        gyre_kernel_await_turn(kernel); /* what was obeyed may be an order to handle requests again */
    }
}

/* Only a kernel that is resident and not on its way out can be paused or resumed. Under the lock. */
static gyre_status change_state(gyre_kernel *kernel, gyre_kernel_state state, uint64_t deadline_ns)
{
    const uint64_t verb = state == GYRE_KERNEL_ACTIVE ? GYRE_VERB_RUN : GYRE_VERB_PAUSE;
    if (kernel->checkpoints || kernel->turn.saving)
        gyre_kernel_await_turn(kernel);
    gyre_kernel_state now = gyre_kernel_get_state(kernel);
    char why[64];
    if (now == GYRE_KERNEL_LOST)
        return gyre_error_set(GYRE_LOST, "kernel '%s' is lost%s; launch it again", kernel->name,
                              gyre_control_why_lost(kernel->control, why, sizeof why));
    if (now != GYRE_KERNEL_ACTIVE && now != GYRE_KERNEL_INACTIVE)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s; relaunch it first", kernel->name,
                              gyre_kernel_state_word(now));
    if (gyre_control_verb(kernel) != verb)
        gyre_control_order(kernel, verb);
    gyre_kernel_set_state(kernel, state);
    gyre_status status = gyre_kernel_await_obeyed(kernel, deadline_ns);
    if (status == GYRE_LOST && !kernel->turn.ending)
        gyre_kernel_set_state(kernel, GYRE_KERNEL_LOST);
    return status;
}

static gyre_status become(gyre_kernel *kernel, const char *call, gyre_kernel_state state,
                          uint64_t deadline_ns)
{
    gyre_status status = check_kernel(kernel, call);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = change_state(kernel, state, deadline_ns);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

gyre_status gyre_kernel_activate(gyre_kernel *kernel, uint64_t deadline_ns)
{
    return become(kernel, "gyre_kernel_activate", GYRE_KERNEL_ACTIVE, deadline_ns);
}

gyre_status gyre_kernel_deactivate(gyre_kernel *kernel, uint64_t deadline_ns)
{
    return become(kernel, "gyre_kernel_deactivate", GYRE_KERNEL_INACTIVE, deadline_ns);
}

gyre_status gyre_kernel_await_boundary(gyre_kernel *kernel)
{
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    const uint64_t generation = kernel->generation;
    if (kernel->resident) {
        uint64_t limit =
            gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "stop_timeout_ms");
        gyre_control_order(kernel, gyre_control_verb(kernel));
        status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_STOP, gyre_clock_ns() + limit);
    }
    if (status == GYRE_CLOSED) { /* it is being terminated: that ends at a message boundary too */
        gyre_kernel_await_turn(kernel);
        /* of another generation: it ended, and was launched again before this thread had its turn */
        status = kernel->resident && kernel->generation == generation
                     ? gyre_error_set(GYRE_TIMEOUT, "a handler of kernel '%s' does not return", kernel->name)
                     : GYRE_OK;
    }
    pthread_mutex_unlock(&kernel->lock);
    return status == GYRE_LOST ? GYRE_OK : status;
}

/* ---- ending ---- */

static bool work_is_left(const gyre_kernel *kernel)
{
    if (gyre_control_verb(kernel) != GYRE_VERB_RUN || gyre_control_is_lost(kernel))
        return false;
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_queue_outstanding(queue))
            return true;
    return false;
}

/* Lets an active kernel work off what was accepted, until the deadline, which others may bring forward. */
static void drain(gyre_kernel *kernel)
{
    while (work_is_left(kernel)) {
        uint64_t now = gyre_clock_ns(), next = now + DRAIN_POLL_NS;
        if (now >= kernel->end.drain_deadline_ns)
            break;
        struct timespec until = gyre_clock_timespec(next);
        pthread_cond_timedwait(&kernel->changed, &kernel->lock, &until);
    }
}

/* Waits until the device has left and takes its side down. After a failure other than LOST it stays: it may
 * still be there. */
static gyre_status leave_device(gyre_kernel *kernel)
{
    uint64_t limit =
        gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "stop_timeout_ms");
    gyre_resident *resident = kernel->resident;
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_dispatch_wait(kernel->dispatch, resident, gyre_clock_ns() + limit);
    pthread_mutex_lock(&kernel->lock);
    if (status == GYRE_OK)
        gyre_keeper_left(kernel);
    if (status == GYRE_LOST && gyre_dispatch_isolated(kernel->dispatch))
        status = GYRE_OK; /* the worker died, and with it whatever ran there: the kernel has left */
    if (status == GYRE_TIMEOUT)
        return gyre_error_add(status, "kernel '%s' did not stop within stop_timeout_ms", kernel->name);
    if (status != GYRE_OK && status != GYRE_LOST)
        return gyre_error_add(status, "whether kernel '%s' has stopped is not known", kernel->name);
    kernel->resident = NULL; /* first: nobody notifies a device that is being taken down */
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

/* Takes the device side down; `ending` is this thread's. */
static void end_device(gyre_kernel *kernel)
{
    uint64_t left = 0;
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_queue_close_sends(queue);
    gyre_kernel_set_state(kernel, GYRE_KERNEL_STOPPING);
    drain(kernel);
    while (kernel->turn.starting) /* its worker died during the drain, and it is being brought back */
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

/* Another thread is at it: it gives up draining when this one's deadline comes first. */
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

/* What another thread's end came to, as a sentence of this one. */
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

gyre_status gyre_kernel_terminate(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    if (unhandled)
        *unhandled = 0;
    gyre_status status = check_kernel(kernel, "gyre_kernel_terminate");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = gyre_kernel_end(kernel, drain_deadline_ns, unhandled);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

/* ---- again ---- */

/* Nobody will serve them: what was accepted since they were reopened is reported, and sends are refused
 * again. */
static void refuse_sends(const gyre_kernel *kernel)
{
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
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
    gyre_kernel_await_turn(kernel);
    gyre_kernel_state now = gyre_kernel_get_state(kernel);
    bool lost = now == GYRE_KERNEL_LOST && !kernel->resident; /* given up, while its device may live again */
    if (kernel->end.leaving) {
        status = gyre_error_set(GYRE_CLOSED, "kernel '%s' is being released", kernel->name);
    } else if (now != GYRE_KERNEL_TERMINATED && !(lost && gyre_dispatch_isolated(kernel->dispatch))) {
        status = gyre_error_set(GYRE_INVALID, "kernel '%s' is %s; only a terminated kernel can be relaunched",
                                kernel->name, gyre_kernel_state_word(now));
    } else {
        gyre_kernel_rewind_queues(kernel);
        kernel->launched_ns = gyre_clock_ns();
        status = gyre_kernel_start(kernel, true);
        if (status != GYRE_OK && !kernel->resident && !kernel->turn.starting)
            refuse_sends(kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
