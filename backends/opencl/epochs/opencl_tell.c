/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a person who wonders why no reply comes which blocks of a kernel work. The pump knows the blocks that
 * an epoch (a batch of requests) runs in, and writes the blocks' lines for them when the epoch begins and
 * when it is complete. A block that shares an epoch with other blocks counts as working until all are done.
 * Takes no lock: only the pump's thread calls it. Relaxed: nobody relies on the order.
 */
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/epochs/opencl_tell.h"

static gyre_control_block *lines_of(const gyre_resident *resident)
{
    return (gyre_control_block *)(resident->control + 1);
}

/*
 * Marks the epoch's blocks as working, except blocks with an older epoch under way. The number of the
 * epoch differs each time, is not 0, and names no flow (GYRE_WORKING_TABLE).
 */
void opencl_tell_begun(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    gyre_control_block *line = lines_of(resident) + epoch->first_block;
    for (uint32_t i = 0; i < epoch->groups; i++)
        if (!line[i].working)
            __atomic_store_n(&line[i].working, epoch->mark & ~GYRE_EPOCH_DONE, __ATOMIC_RELAXED);
}

void opencl_tell_present(const gyre_resident *resident)
{
    gyre_control_block *line = lines_of(resident);
    for (uint32_t i = 0; i < resident->blocks; i++)
        __atomic_store_n(&line[i].tells, 1, __ATOMIC_RELAXED);
}

void opencl_tell_ended(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const uint32_t places = resident->device->settings.epochs;
    gyre_control_block *line = lines_of(resident) + epoch->first_block;
    for (uint32_t i = 0; i < epoch->groups; i++)
        __atomic_store_n(&line[i].working, 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < resident->in_flight; i++)
        opencl_tell_begun(resident, &resident->epochs[(resident->oldest + i) % places]);
}
