/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovers from the death of a worker process. The process is reaped, so only clients write into the rings. First this file
 * looks for the request that killed the worker (suspects.c). Then it starts another worker and launches every kernel there,
 * where the kernel goes on at the first unanswered request of each queue (revival.c).
 *
 * Runs in the thread of the worker's keeper. Lock: kernel->lock, never during a wait. turn.starting is set from the death until
 * the kernel runs again, so that no other thread takes the device side up or down.
 */
#include "core/recovery/recovery_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/probe.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/control.h"
#include "core/kernel/handles.h"
#include "core/kernel/node.h"
#include "core/kernel/queue_table.h"
#include "core/kernel/visit.h"
#include "core/plan/shape.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/recovery/careful.h"
#include "core/recovery/keep_record.h"
#include "core/recovery/revival.h"
#include "core/recovery/stages.h"
#include "core/recovery/suspects.h"
#include "core/ring/express.h"
#include "gyre/waiting.h"

enum { BACKOFF_DOUBLINGS_MAX = 10 };
#define BACKOFF_MAX_NS  UINT64_C(1000000000)
#define MEMORY_AGAIN_NS UINT64_C(10000000) /* pause between two attempts to allocate */

/* ---- taking kernels out of service ---- */

/* True for a kernel that cannot handle a request again: its handler keeps a state, and it has no checkpoints. */
static bool cannot_repeat(const gyre_kernel *kernel)
{
    return gyre_record_keeps_something(kernel->record) && !kernel->checkpoints;
}

/* Wakes receivers, because the worker may have died after it wrote a reply and before it rang the bell. */
static void wake_waiting(const gyre_kernel *kernel)
{
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_bell_ring(&gyre_ring_of(queue)->shared->device.bell, INT_MAX);
}

/*
 * Takes a kernel of the dead worker out of service. Leaves a kernel alone that another thread launches, ends or frees: that
 * thread sees the death itself.
 */
static void suspend_kernel(gyre_kernel *kernel)
{
    gyre_resident *dead = NULL;
    pthread_mutex_lock(&kernel->lock);
    bool stopping =
        (kernel->turn.ending || kernel->end.leaving) && gyre_control_verb(kernel) == GYRE_VERB_STOP;
    if (kernel->resident && !kernel->turn.starting && !stopping) {
        dead = kernel->resident;
        kernel->resident = NULL;
        struct gyre_kernel_revival *const revival = &kernel->care->revival;
        kernel->turn.starting = revival->runs = revival->seen = true;
        revival->revived = false;
        kernel->tally.restarts++;
        kernel->generation++;
        /* whoever had it stand finds another generation, and does not let it go on */
        if (kernel->paused_to_save)
            gyre_control_order(kernel, GYRE_VERB_RUN);
        kernel->care->revival.verb = gyre_control_verb(kernel);
        kernel->paused_to_save = false;
        gyre_control_settle_counts(kernel);
    } else if (kernel->care->revival.runs) {
        kernel->tally.restarts++; /* the next worker died before the kernel ran */
    }
    wake_waiting(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_dispatch_release(kernel->dispatch, dead);
}

static void give_up_all(const struct gyre_recovery *recovery, const char *why)
{
    for (size_t i = 0; i < recovery->count; i++)
        if (recovery->kernels[i]->care->revival.runs)
            gyre_recovery_give_up(recovery->kernels[i], why);
}

/* ---- going on ---- */

/* Resumes all kernels with all their queues. LOST when the worker died meanwhile. */
static gyre_status resume_all(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        if (!kernel->care->revival.runs)
            continue;
        pthread_mutex_lock(&kernel->lock);
        for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
            gyre_kernel_set_gate(queue, UINT64_MAX);
        pthread_mutex_unlock(&kernel->lock);
        if (gyre_recovery_resume(kernel) == GYRE_LOST)
            return GYRE_LOST;
    }
    return gyre_stages_revive(recovery);
}

static void suspend_all(const struct gyre_recovery *recovery, const char *reason)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        suspend_kernel(kernel);
        if (kernel->care->revival.runs && kernel->care->watch.doomed == kernel->starts)
            gyre_recovery_give_up(kernel,
                                  "a handler ran for longer than handler_budget_ms (on_stall = stop)");
        else if (kernel->care->revival.runs && cannot_repeat(kernel) && !gyre_node_begins_anew(kernel)) {
            gyre_kernel_tell_death(kernel, reason);
            gyre_recovery_give_up(
                kernel, "its worker process died, and what its handler keeps between messages with it");
        }
    }
    gyre_stages_share_fate(recovery);
}

/* Waits before the next restart. False after too many restarts without an answered request, or when the device is to end. */
static bool await_turn(const struct gyre_open_device *device)
{
    const struct gyre_config *config = device->runtime->config;
    const char *name = device->candidate->name;
    uint64_t limit = (uint64_t)gyre_config_int(config, GYRE_SECTION_BACKEND, name, "restart_limit");
    uint64_t wait_ns = gyre_config_ns(config, GYRE_SECTION_BACKEND, name, "restart_backoff_ms");
    uint32_t doublings = device->futile < 2 ? 0 : device->futile - 2;
    if (device->futile > limit)
        return false;
    if (device->futile < 2)
        wait_ns = 0;
    wait_ns <<= doublings < BACKOFF_DOUBLINGS_MAX ? doublings : BACKOFF_DOUBLINGS_MAX;
    return gyre_dispatch_pause(device->dispatch, wait_ns < BACKOFF_MAX_NS ? wait_ns : BACKOFF_MAX_NS);
}

/* One attempt to recover. AGAIN: the new worker died, too. */
static gyre_status recover_once(struct gyre_recovery *recovery)
{
    struct gyre_open_device *device = recovery->device;
    char reason[160];
    gyre_dispatch_bury(device->dispatch);
    gyre_dispatch_reason(device->dispatch, reason, sizeof reason);
    gyre_runtime_log(device->runtime, GYRE_LOG_WARNING, "the worker process of backend '%s' died: %s",
                     device->candidate->name, reason);
    GYRE_PROBE2(worker_lost, device->candidate->name, reason);
    suspend_all(recovery, reason);
    gyre_suspects_investigate(recovery, reason);
    gyre_record_want(device->runtime); /* with the requests that are failed for this death */
    if (!await_turn(device)) {
        give_up_all(recovery, "the worker process died too often in a row (restart_limit), or is to end");
        return GYRE_LOST;
    }
    gyre_status status = gyre_dispatch_revive(device->dispatch);
    if (status == GYRE_OK) {
        GYRE_PROBE1(worker_back, device->candidate->name);
        gyre_handles_relocate(device->runtime, device->dispatch);
        status = device->careful ? gyre_recovery_step_by_step(recovery) : resume_all(recovery);
    } else {
        gyre_runtime_log(device->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
        status = GYRE_LOST;
    }
    return status == GYRE_LOST ? GYRE_AGAIN : GYRE_OK;
}

static bool is_of_recovery(const gyre_kernel *kernel, const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++)
        if (recovery->kernels[i] == kernel)
            return true;
    return false;
}

static void leave_kernels(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++)
        gyre_kernel_leave(recovery->kernels[i]);
    free(recovery->kernels);
}

/* Visits the kernels, and tries again while memory is lacking, because only this thread can wake threads that wait for
 * completions. False when the device is to end. */
static bool visit_kernels(struct gyre_recovery *recovery)
{
    const struct gyre_open_device *device = recovery->device;
    do
        recovery->kernels = gyre_kernels_visit(device->runtime, device->dispatch, &recovery->count);
    while (!recovery->kernels && gyre_dispatch_pause(device->dispatch, MEMORY_AGAIN_NS));
    return recovery->kernels != NULL;
}

/*
 * Visits the kernels for the next attempt, and leaves the kernels of the last attempt. A kernel may have been released during
 * its revival, so that it is not listed any more: the thread that frees it waits for the end of the revival.
 */
static bool visit_kernels_again(struct gyre_recovery *recovery)
{
    const struct gyre_recovery last = *recovery;
    bool found = visit_kernels(recovery);
    for (size_t i = 0; i < last.count; i++)
        if (last.kernels[i]->care->revival.runs && !is_of_recovery(last.kernels[i], recovery))
            (void)gyre_recovery_end(last.kernels[i], "it was released");
    leave_kernels(&last);
    return found;
}

bool gyre_recovery_run(void *context)
{
    struct gyre_recovery recovery = {.device = context};
    gyre_status status = GYRE_AGAIN;
    while (status == GYRE_AGAIN) {
        if (!visit_kernels_again(&recovery))
            return false;
        status = recover_once(&recovery);
    }
    leave_kernels(&recovery);
    return status == GYRE_OK;
}
