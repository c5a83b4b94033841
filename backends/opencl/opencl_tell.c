/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a kernel's blocks, for a person who wonders why no reply comes: the pump knows which of them an epoch
 * runs in, and writes their lines for them, when it begins and when it is through. A block that shares an epoch with
 * others is at it until all are through. No locks: the pump's thread alone. Relaxed: nobody relies on the order.
 */
#include "opencl_epoch.h"
#include "opencl_tell.h"

static gyre_control_block *lines_of(const gyre_resident *resident)
{
    return (gyre_control_block *)(resident->control + 1);
}

/* The blocks that have no older epoch under way are at this one. Its mark is another one each time, and not 0. */
void opencl_tell_begun(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    gyre_control_block *line = lines_of(resident) + epoch->first_block;
    for (uint32_t i = 0; i < epoch->groups; i++)
        if (!line[i].working)
            __atomic_store_n(&line[i].working, epoch->mark, __ATOMIC_RELAXED);
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
