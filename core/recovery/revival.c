/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches a kernel in another worker process, where it goes on at its first unanswered requests, or gives the kernel up.
 *
 * Runs in the thread of the worker's keeper, which set turn.starting. Lock: kernel->lock, never during a wait.
 */
#include "core/recovery/revival.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/durability/replay.h"
#include "core/kernel/binding.h"
#include "core/kernel/control.h"
#include "core/kernel/handles.h"
#include "core/kernel/queue_table.h"
#include "core/kernel/spans.h"
#include "core/kernel/standstill.h"
#include "core/kernel/start.h"
#include "core/kernel/node.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"
#include "core/recovery/stall.h"
#include "core/recovery/supervisor.h"

uint64_t gyre_recovery_end(gyre_kernel *kernel, const char *why)
{
    uint64_t left = 0;
    pthread_mutex_lock(&kernel->lock);
    snprintf(kernel->care->losses.why, sizeof kernel->care->losses.why, "%s", why);
    __atomic_store_n(&kernel->control->device.lost, 1, __ATOMIC_RELEASE);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        gyre_kernel_set_gate(queue, UINT64_MAX);
        gyre_queue_close_sends(queue);
        left += gyre_queue_complete_unhandled(queue);
    }
    gyre_kernel_set_state(kernel, GYRE_KERNEL_LOST);
    gyre_kernel_let_buffers_go(kernel);
    kernel->turn.starting = kernel->care->revival.runs = false;
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    return left;
}

void gyre_recovery_give_up(gyre_kernel *kernel, const char *why)
{
    uint64_t left = gyre_recovery_end(kernel, why);
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s' is lost with %llu unanswered requests: %s",
                     gyre_node_facts_of(kernel).name, (unsigned long long)left, why);
    gyre_supervisor_notice(kernel->runtime);
}

static bool watch_worker(void *context, uint64_t deadline_ns)
{
    gyre_kernel *kernel = context;
    return gyre_dispatch_watch(kernel->dispatch, deadline_ns);
}

/* Under the lock: writes the queue table and repeats the last command. */
static void show_all(gyre_kernel *kernel, uint64_t verb)
{
    gyre_kernel_write_table(kernel, true);
    gyre_control_order(kernel, verb);
}

/* Launches the kernel with the state of its last checkpoint, and lets it handle later requests again. */
static gyre_status launch_again(gyre_kernel *kernel, bool replays, uint64_t verb, gyre_resident **out)
{
    gyre_status status = replays ? gyre_replay_check(kernel) : GYRE_OK;
    if (status == GYRE_OK && kernel->checkpoints)
        status = gyre_replay_restore(kernel);
    if (status != GYRE_OK)
        return status;
    (void)GYRE_FAULT_POINT(RECOVERY_LAUNCH);
    kernel->care->revival.seen = true;
    const bool anew = gyre_node_begins_anew(kernel);
    if (anew)
        gyre_node_tell_anew(kernel);
    status = gyre_kernel_launch_device(kernel, anew, out);
    if (status != GYRE_OK || !replays)
        return status;
    status = gyre_replay_run(kernel, watch_worker, kernel);
    pthread_mutex_lock(&kernel->lock);
    if (status == GYRE_OK) {
        __atomic_store_n(&kernel->control->queues[0].address, 0,
                         __ATOMIC_RELEASE); /* the entry of the replay's queue */
        show_all(kernel, verb);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status == GYRE_OK ? gyre_dispatch_notify(kernel->dispatch, *out) : status;
}

static uint64_t restart_limit(const gyre_kernel *kernel)
{
    return (uint64_t)gyre_config_int(kernel->runtime->config, GYRE_SECTION_BACKEND,
                                     gyre_dispatch_backend(kernel->dispatch), "restart_limit");
}

/*
 * True when another worker may launch the kernel although this worker could not. The kernel ran before, so an error of the
 * device (no memory, busy with other programs, no answer) is not the kernel's fault. restart_limit such errors in a row end the
 * kernel, even if other kernels run meanwhile.
 */
static bool may_pass(gyre_kernel *kernel, gyre_status status)
{
    bool about_kernel = status == GYRE_INVALID || status == GYRE_INCOMPATIBLE || status == GYRE_UNIMPLEMENTED;
    return !about_kernel && ++kernel->care->revival.refusals <= restart_limit(kernel);
}

gyre_status gyre_recovery_resume(gyre_kernel *kernel)
{
    gyre_resident *resident = NULL;
    pthread_mutex_lock(&kernel->lock);
    const uint64_t last = kernel->checkpoints ? kernel->care->revival.verb : gyre_control_verb(kernel),
                   verb = gyre_standstill_verb(kernel, last);
    gyre_control_reset(kernel);
    bool replays = gyre_replay_prepare(kernel);
    if (!replays)
        show_all(kernel, verb);
    pthread_mutex_unlock(&kernel->lock);
    gyre_handles_refresh(kernel);
    gyre_spans_relocate(kernel);
    gyre_status status = launch_again(kernel, replays, verb, &resident);
    if (status != GYRE_OK && status != GYRE_LOST && !resident)
        kernel->care->revival.seen = false; /* no request may be blamed for an error of the device */
    if (status != GYRE_OK)
        gyre_dispatch_release(kernel->dispatch, resident);
    if (status == GYRE_LOST)
        return status;
    if (status != GYRE_OK && may_pass(kernel, status)) {
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
        gyre_dispatch_kill(kernel->dispatch, "it could not launch a kernel again");
        return GYRE_LOST;
    }
    if (status != GYRE_OK) {
        gyre_recovery_give_up(kernel, gyre_error_text());
        return status;
    }
    struct gyre_kernel_revival *const revival = &kernel->care->revival;
    pthread_mutex_lock(&kernel->lock);
    kernel->resident = resident;
    revival->refusals = 0;
    revival->revived = true;
    kernel->turn.starting = revival->runs = false;
    gyre_stall_forget(kernel); /* the watchdog may not have looked while the kernel was away */
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    return GYRE_OK;
}
