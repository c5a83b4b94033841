/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the health of a kernel and its blocks, from the blocks' lines in the control region and from the watchdog. Lock:
 * kernel->lock. */
#include "core/recovery/health.h"

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/kernel/control.h"
#include "core/kernel/node.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/recovery/stall.h"

gyre_kernel_health gyre_kernel_health_of(const gyre_kernel *kernel)
{
    if (!kernel->resident)
        return GYRE_HEALTH_DEAD;
    const bool stalled = kernel->care->watch.stalled;
    if (stalled && gyre_node_is_stage(kernel))
        return GYRE_HEALTH_STALLED; /* a stage may have no queue of its own */
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_queue_first_unanswered(queue) < gyre_queue_next_index(queue))
            return stalled ? GYRE_HEALTH_STALLED : GYRE_HEALTH_BUSY;
    return GYRE_HEALTH_IDLE;
}

/* The health of a block, from its line. Where the backend does not tell about blocks: the kernel's health. Under the lock. */
static gyre_kernel_health health_of_block(const gyre_kernel *kernel, const gyre_control_block *line,
                                          const gyre_block_info *info)
{
    const gyre_kernel_health whole = gyre_kernel_health_of(kernel);
    if (whole == GYRE_HEALTH_DEAD || whole == GYRE_HEALTH_IDLE || !info->tells)
        return whole;
    if (!__atomic_load_n(&line->working, __ATOMIC_RELAXED))
        return GYRE_HEALTH_IDLE;
    const uint64_t limit = gyre_stall_limit_of(kernel).limit_ns;
    return kernel->care->watch.stalled && info->still_ns >= limit ? GYRE_HEALTH_STALLED : GYRE_HEALTH_BUSY;
}

static void read_block(gyre_kernel *kernel, uint32_t block, gyre_block_info *info)
{
    const gyre_control_block *line = &gyre_control_blocks(kernel)[block];
    const uint64_t now = gyre_watch_now(kernel->runtime);
    pthread_mutex_lock(&kernel->lock);
    gyre_stall_look_at_blocks(kernel, now);
    info->handled = __atomic_load_n(&line->handled, __ATOMIC_RELAXED);
    info->failed = __atomic_load_n(&line->failed, __ATOMIC_RELAXED);
    info->heartbeat = __atomic_load_n(&line->heartbeat, __ATOMIC_RELAXED);
    info->tells = __atomic_load_n(&line->tells, __ATOMIC_RELAXED) != 0;
    info->still_ns = gyre_stall_works_ns(kernel, block, now);
    if (!info->still_ns && kernel->care->watch.blocks)
        info->still_ns = gyre_time_since(kernel->care->watch.blocks[block].since_ns, now);
    info->health = health_of_block(kernel, line, info);
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_kernel_block_get(gyre_kernel *kernel, uint32_t block, gyre_block_info *info)
{
    gyre_block_info now = {0};
    if (!kernel || !info || info->size < sizeof info->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_kernel_block_get needs a kernel and an info with its size set");
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_kernel_block_get");
    if (status == GYRE_OK && block >= kernel->blocks)
        status = gyre_error_set(GYRE_INVALID, "kernel '%s' has %u blocks, found block %u", kernel->name,
                                kernel->blocks, block);
    if (status != GYRE_OK)
        return status;
    read_block(kernel, block, &now);
    gyre_info_give(info, &now, sizeof now);
    return GYRE_OK;
}

const char *gyre_kernel_health_word(gyre_kernel_health health)
{
    static const char *const words[] = {"unknown", "idle", "busy", "stalled", "dead"};
    size_t index = (size_t)health;
    return index < sizeof words / sizeof words[0] ? words[index] : words[0];
}
