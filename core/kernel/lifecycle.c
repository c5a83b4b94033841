/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that activate, deactivate, terminate and relaunch a kernel. Each call changes the state under kernel->lock, and
 * waits for the device without the lock, so a later call can overtake an earlier call. For example, a terminate without
 * draining cuts another thread's drain short, and ends the wait of a deactivate that a handler holds up.
 *
 * One thread at a time takes the device side up (`starting`) or down (`ending`). Other threads that want it down wait for that
 * thread, and share its result.
 */
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/control.h"
#include "core/kernel/end.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/node.h"
#include "core/kernel/start.h"
#include "core/kernel/turn.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"

static gyre_status check_kernel(const gyre_kernel *kernel, const char *call)
{
    return kernel ? gyre_runtime_check_own(kernel->runtime, call)
                  : gyre_error_set(GYRE_INVALID, "%s needs a kernel", call);
}

/* ---- pausing ---- */

/* Pauses or resumes a kernel that is resident and is not being ended. Under the lock. */
static gyre_status change_state(gyre_kernel *kernel, gyre_kernel_state state, uint64_t deadline_ns)
{
    const uint64_t verb = state == GYRE_KERNEL_ACTIVE ? GYRE_VERB_RUN : GYRE_VERB_PAUSE;
    if (kernel->checkpoints || kernel->turn.saving || kernel->turn.changing)
        gyre_kernel_await_turn(kernel);
    gyre_kernel_state now = gyre_kernel_get_state(kernel);
    char why[64];
    if (now == GYRE_KERNEL_LOST)
        return gyre_error_set(GYRE_LOST, "kernel '%s' is lost%s; launch it again", kernel->name,
                              gyre_kernel_why_lost(kernel, why, sizeof why));
    if (now != GYRE_KERNEL_ACTIVE && now != GYRE_KERNEL_INACTIVE)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s; relaunch it first", kernel->name,
                              gyre_kernel_state_word(now));
    if (gyre_control_verb(kernel) != verb)
        gyre_control_order(kernel, verb);
    gyre_kernel_set_state(kernel, state);
    kernel->paused_to_save = false; /* from now on the state says what the kernel goes on with */
    gyre_status status = gyre_kernel_await_obeyed(kernel, deadline_ns);
    if (status == GYRE_LOST && !kernel->turn.ending)
        gyre_kernel_set_state(kernel, GYRE_KERNEL_LOST);
    return status;
}

static gyre_status become_state(gyre_kernel *kernel, const char *call, gyre_kernel_state state,
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
    return become_state(kernel, "gyre_kernel_activate", GYRE_KERNEL_ACTIVE, deadline_ns);
}

gyre_status gyre_kernel_deactivate(gyre_kernel *kernel, uint64_t deadline_ns)
{
    return become_state(kernel, "gyre_kernel_deactivate", GYRE_KERNEL_INACTIVE, deadline_ns);
}

/* ---- ending ---- */

gyre_status gyre_kernel_terminate(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    if (unhandled)
        *unhandled = 0;
    gyre_status status = check_kernel(kernel, "gyre_kernel_terminate");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = gyre_node_check_free(kernel, "gyre_kernel_terminate");
    if (status == GYRE_OK)
        status = gyre_kernel_end(kernel, drain_deadline_ns, unhandled);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

/* ---- again ---- */

/* After a failed start: completes the requests that were accepted since the queues were reopened, and refuses sends again. */
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
    bool lost =
        now == GYRE_KERNEL_LOST && !kernel->resident; /* the kernel was given up; its device may run again */
    if (kernel->end.leaving) {
        status = gyre_error_set(GYRE_CLOSED, "kernel '%s' is being released", kernel->name);
    } else if (now != GYRE_KERNEL_TERMINATED && !(lost && gyre_dispatch_isolated(kernel->dispatch))) {
        status = gyre_error_set(GYRE_INVALID, "kernel '%s' is %s; only a terminated kernel can be relaunched",
                                kernel->name, gyre_kernel_state_word(now));
    } else if (kernel->node.in_journal) {
        status = gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is a stage of pipeline '%s', whose journal holds what it kept: close the pipeline, relaunch "
            "its kernels, and open it again, which brings that back",
            kernel->name, kernel->node.pipeline_name);
    } else {
        gyre_kernel_rewind_queues(kernel);
        kernel->launched_ns = gyre_clock_ns();
        status = gyre_kernel_start(kernel, true);
        if (status != GYRE_OK && !kernel->resident && !kernel->turn.starting)
            refuse_sends(kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    if (status != GYRE_OK)
        return status;
    GYRE_PROBE1(relaunched, kernel->name);
    gyre_error_hold();
    (void)gyre_node_revive_pipeline(kernel,
                                    false); /* LOST: another stage does not run yet, whose relaunch does it */
    gyre_error_let_go();
    return status;
}
