/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a checkpoint of a kernel that stands: looking at its queues, copying what it keeps, and letting the copy count. The
 * caller holds kernel->lock where the headers say so, and decides what lies between the steps.
 */
#include "core/durability/checkpoint_draw.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/probe.h"
#include "core/durability/lead.h"
#include "core/durability/snapshot.h"
#include "core/queue/queue.h"
#include "core/stages/log.h"

void gyre_checkpoint_look(const gyre_kernel *kernel)
{
    const struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    for (gyre_queue *queue = gyre_lead_first(checkpoints, kernel); queue;
         queue = gyre_lead_next(checkpoints, queue))
        gyre_queue_log_look(queue);
}

gyre_status gyre_checkpoint_read(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (GYRE_FAULT_POINT(CHECKPOINT_COPY))
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to copy what kernel '%s' keeps", kernel->name);
    gyre_status status = gyre_snapshot_read(kernel);
    if (status == GYRE_OK && checkpoints->part_count)
        gyre_store_seal(&checkpoints->store);
    return status;
}

void gyre_checkpoint_note_pause(struct gyre_checkpoints *checkpoints, uint64_t begun_ns)
{
    checkpoints->pause_ns = gyre_clock_ns() - begun_ns;
    if (checkpoints->pause_ns > checkpoints->longest_pause_ns)
        checkpoints->longest_pause_ns = checkpoints->pause_ns;
}

void gyre_checkpoint_count(const gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    (void)GYRE_FAULT_POINT(CHECKPOINT_COMMIT);
    if (checkpoints->part_count)
        gyre_store_commit(&checkpoints->store);
    for (gyre_queue *queue = gyre_lead_first(checkpoints, kernel); queue;
         queue = gyre_lead_next(checkpoints, queue))
        gyre_queue_log_commit(queue, checkpoints->every_messages);
    checkpoints->taken++;
    GYRE_PROBE2(checkpoint, kernel->name, checkpoints->pause_ns);
}

bool gyre_checkpoint_draw_begin(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (checkpoints->writing)
        return false;
    checkpoints->writing = true;
    gyre_checkpoint_look(kernel);
    return true;
}

gyre_status gyre_checkpoint_draw_copy(gyre_kernel *kernel)
{
    return gyre_checkpoint_read(kernel);
}

void gyre_checkpoint_draw_end(gyre_kernel *kernel, bool counts, uint64_t begun_ns)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (counts) {
        gyre_checkpoint_note_pause(checkpoints, begun_ns);
        gyre_checkpoint_count(kernel, checkpoints);
    }
    checkpoints->writing = false;
}

bool gyre_checkpoints_cover(const gyre_kernel *kernel, const gyre_memory *memory)
{
    const struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    for (uint32_t i = 0; i < checkpoints->part_count; i++)
        if (checkpoints->parts[i].memory == memory)
            return true;
    return false;
}
