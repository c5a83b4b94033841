/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovers kernels that are stages of a pipeline (stages.h). Kernels of one pipeline are in one worker process. A stage's queues of its own
 * are those of any kernel; the queues by which clients enter the pipeline are the log of its flows.
 *
 * Locks: kernel->lock, never during a wait.
 */
#include "core/recovery/stages.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/node.h"
#include "core/queue/queue.h"
#include "core/recovery/revival.h"

static bool is_lost(const gyre_kernel *kernel)
{
    return gyre_kernel_get_state(kernel) == GYRE_KERNEL_LOST;
}

/* A kernel of the same pipeline that is lost; NULL: none is. */
static const gyre_kernel *find_lost(const struct gyre_recovery *recovery, gyre_kernel *kernel)
{
    const void *const pipeline = gyre_node_pipeline(kernel);
    for (size_t i = 0; pipeline && i < recovery->count; i++)
        if (is_lost(recovery->kernels[i]) && gyre_node_pipeline(recovery->kernels[i]) == pipeline)
            return recovery->kernels[i];
    return NULL;
}

void gyre_stages_share_fate(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        const gyre_kernel *lost = kernel->care->revival.runs ? find_lost(recovery, kernel) : NULL;
        if (lost) {
            char why[128];
            snprintf(why, sizeof why, "kernel '%.60s' of its pipeline is lost",
                     gyre_node_facts_of(lost).name);
            gyre_recovery_give_up(kernel, why);
        }
    }
}

/* Returns LOST. */
static gyre_status end_worker(const struct gyre_recovery *recovery, gyre_status status)
{
    (void)status; /* its sentence is told */
    gyre_runtime_log(recovery->device->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
    gyre_dispatch_kill(recovery->device->dispatch, "it could not link the kernels of a pipeline again");
    return GYRE_LOST;
}

/* Whether a kernel before this one, which is not lost, is of the same pipeline. */
static bool is_done(const struct gyre_recovery *recovery, size_t place, const void *pipeline)
{
    for (size_t i = 0; i < place; i++)
        if (!is_lost(recovery->kernels[i]) && gyre_node_pipeline(recovery->kernels[i]) == pipeline)
            return true;
    return false;
}

gyre_status gyre_stages_revive(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        const void *const pipeline = is_lost(kernel) ? NULL : gyre_node_pipeline(kernel);
        if (!pipeline || is_done(recovery, i, pipeline))
            continue;
        const gyre_kernel *lost = find_lost(recovery, kernel);
        if (lost && !kernel->care->revival.revived) /* the application launches its kernels one by one */
            continue;
        if (lost) /* a kernel that runs is given up when its worker is dead */
            return end_worker(recovery,
                              gyre_error_set(GYRE_FAILED, "kernel '%s' of a pipeline was not launched again",
                                             gyre_node_facts_of(lost).name));
        const gyre_status status = gyre_node_revive_pipeline(kernel, true);
        if (status != GYRE_OK)
            return status == GYRE_LOST ? status : end_worker(recovery, status);
    }
    return GYRE_OK;
}

gyre_status gyre_stages_resume(const struct gyre_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        if (kernel->care->revival.runs && gyre_node_pipeline(kernel) &&
            gyre_recovery_resume(kernel) == GYRE_LOST)
            return GYRE_LOST;
    }
    return gyre_stages_revive(recovery);
}

const char *gyre_stages_at(const struct gyre_recovery *recovery, gyre_kernel *kernel, uint32_t number,
                           uint64_t index, char *text, size_t size)
{
    const void *const pipeline = gyre_node_pipeline(kernel);
    size_t length = 0;
    for (size_t i = 0; pipeline && i < recovery->count && length < size; i++)
        if (gyre_node_pipeline(recovery->kernels[i]) == pipeline &&
            gyre_node_was_at(recovery->kernels[i], number, index))
            length += (size_t)snprintf(text + length, size - length, "%s'%s'", length ? " or " : "",
                                       gyre_node_facts_of(recovery->kernels[i]).name);
    return length ? text : NULL;
}
