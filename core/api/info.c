/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the counts of gyre_kernel_info, from a kernel's device, durability and recovery. Lock: kernel->lock. */
#include <stdio.h>
#include <stdlib.h>

#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/checkpoint.h"
#include "core/durability/durable.h"
#include "core/kernel/control.h"
#include "core/kernel/node.h"
#include "core/kernel/visit.h"
#include "core/pipeline/build.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/recovery/care.h"
#include "core/recovery/health.h"

static void tell_absences(const gyre_kernel *kernel, gyre_kernel_info *info)
{
    const gyre_control_absences *absences = &kernel->control->absences;
    info->absences = __atomic_load_n(&absences->count, __ATOMIC_RELAXED);
    info->absent_ns = __atomic_load_n(&absences->total_ns, __ATOMIC_RELAXED);
    info->longest_absence_ns = __atomic_load_n(&absences->longest_ns, __ATOMIC_RELAXED);
    info->stays = __atomic_load_n(&absences->stays, __ATOMIC_RELAXED);
    info->stayed_ns = __atomic_load_n(&absences->stayed_ns, __ATOMIC_RELAXED);
    info->longest_stay_ns = __atomic_load_n(&absences->longest_stay_ns, __ATOMIC_RELAXED);
}

static void count_messages(const gyre_kernel *kernel, gyre_kernel_info *info)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    info->handled = kernel->tally.handled;
    info->failed = kernel->tally.failed;
    info->restarts = kernel->tally.restarts;
    info->condemned = kernel->tally.condemned;
    info->stalls = kernel->tally.stalls;
    info->health = gyre_kernel_health_of(kernel);
    info->relaunches = __atomic_load_n(&kernel->care->losses.relaunches, __ATOMIC_RELAXED);
    if (kernel->checkpoints) {
        info->checkpoints = kernel->checkpoints->taken;
        info->replayed = __atomic_load_n(&kernel->checkpoints->replayed, __ATOMIC_RELAXED);
        info->checkpoint_ns = kernel->checkpoints->pause_ns;
        info->longest_checkpoint_ns = kernel->checkpoints->longest_pause_ns;
    }
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        info->handled += __atomic_load_n(&blocks[i].handled, __ATOMIC_RELAXED);
        info->failed += __atomic_load_n(&blocks[i].failed, __ATOMIC_RELAXED);
    }
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        info->queues++;
        info->queued += gyre_queue_outstanding(queue);
    }
}

gyre_form gyre_kernel_form(const gyre_kernel *kernel)
{
    return gyre_node_facts_of(kernel).record->form;
}

gyre_status gyre_kernel_info_get(const gyre_kernel *kernel, gyre_kernel_info *info)
{
    gyre_kernel_info now = {0};
    if (!kernel || !info || info->size < sizeof info->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_kernel_info_get needs a kernel and an info with its size set");
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&kernel->lock; /* the lock of a constant object */
    const gyre_device_info *device = gyre_dispatch_device_info(kernel->dispatch);
    pthread_mutex_lock(lock);
    snprintf(now.name, sizeof now.name, "%s", kernel->name);
    snprintf(now.kernel, sizeof now.kernel, "%s", kernel->record->name);
    snprintf(now.backend, sizeof now.backend, "%s", gyre_dispatch_backend(kernel->dispatch));
    snprintf(now.device, sizeof now.device, "%s", device->name);
    now.state = gyre_kernel_get_state(kernel);
    now.lanes = kernel->lanes;
    now.blocks = kernel->blocks;
    now.launched_ns = kernel->launched_ns;
    now.cache_hit = gyre_build_report(kernel->build)->cache_hit;
    now.request = kernel->record->request;
    now.reply = kernel->record->reply;
    now.state_type = kernel->record->state;
    count_messages(kernel, &now);
    tell_absences(kernel, &now);
    now.standby = gyre_dispatch_stands_by(kernel->dispatch);
    pthread_mutex_unlock(lock);
    gyre_info_give(info, &now, sizeof now);
    return GYRE_OK;
}

bool gyre_kernel_has_checkpoints(const gyre_kernel *kernel)
{
    return kernel->checkpoints != NULL;
}

const char *gyre_kernel_restored_from(gyre_kernel *kernel)
{
    const gyre_queue *queue =
        gyre_kernel_queue(kernel); /* a kernel with checkpoints and a journal has no other queue */
    return gyre_kernel_has_checkpoints(kernel) && kernel->checkpoints->restored && queue &&
                   gyre_view_of(queue)->durable
               ? gyre_view_of(queue)->durable->file.path
               : NULL;
}

/* ---- all kernels of a runtime ---- */

static void add_kernel(struct gyre_runtime_pulse *pulse, gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK)
        return;
    pulse->kernels++;
    pulse->handled += info.handled;
    pulse->queued += info.queued;
    if (pulse->ill[0] || info.health == GYRE_HEALTH_IDLE || info.health == GYRE_HEALTH_BUSY)
        return;
    snprintf(pulse->ill, sizeof pulse->ill, "%s", info.name);
    pulse->health = info.health;
}

gyre_status gyre_runtime_pulse_get(gyre_runtime *runtime, struct gyre_runtime_pulse *out)
{
    size_t count = 0;
    *out = (struct gyre_runtime_pulse){0};
    gyre_kernel **kernels = gyre_kernels_visit(runtime, NULL, &count);
    if (!kernels)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to look at the kernels");
    for (size_t i = 0; i < count; i++) {
        add_kernel(out, kernels[i]);
        gyre_kernel_leave(kernels[i]);
    }
    free(kernels);
    return GYRE_OK;
}
