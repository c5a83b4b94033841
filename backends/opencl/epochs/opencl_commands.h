/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of an epoch (a batch of requests) that are the same whatever way its messages go. Only the
 * pump's thread calls them.
 */
#ifndef GYRE_OPENCL_COMMANDS_H
#define GYRE_OPENCL_COMMANDS_H

#include "backends/opencl/epochs/opencl_epoch.h"

/** Returns GYRE_OK for CL_SUCCESS, otherwise LOST with the name of the call. */
gyre_status opencl_commanded(const gyre_resident *resident, cl_int code, const char *call);
/** Sets the kernel's arguments that say where the slots are. GYRE_OK or LOST. */
gyre_status opencl_set_slots(gyre_resident *resident, cl_mem requests, cl_mem replies);
/**
 * Enqueues the epoch's kernel, after the event `former` if there is one. `ran` receives the kernel's event.
 * GYRE_OK or LOST.
 */
gyre_status opencl_enqueue(gyre_resident *resident, struct opencl_epoch *epoch, cl_event former,
                           cl_event *ran);

/**
 * Returns the event that the next epoch's kernel has to wait for, or NULL. The kernel has to wait if an
 * actor's state, or what handlers keep for their block, goes from one epoch to the next.
 */
cl_event opencl_former(const gyre_resident *resident);
/** Whether a later command has to wait for the end of an epoch's kernel, and not of the whole epoch. */
bool opencl_tells_run(const gyre_resident *resident);
/** Gives the epoch the next share of the launch's blocks. */
void opencl_turn_blocks(gyre_resident *resident, struct opencl_epoch *epoch);
/** Copies the table of handles to the device when it has changed. GYRE_OK or LOST. */
gyre_status opencl_copy_handles(gyre_resident *resident);

#endif
