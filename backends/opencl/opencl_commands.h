/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of an epoch that do not depend on the way of its messages. */
#ifndef GYRE_OPENCL_COMMANDS_H
#define GYRE_OPENCL_COMMANDS_H

#include "opencl_epoch.h"

/** GYRE_OK for CL_SUCCESS, else LOST with the call. */
gyre_status opencl_commanded(const gyre_resident *resident, cl_int code, const char *call);
/** Tells the kernel where the slots are. LOST. */
gyre_status opencl_set_slots(gyre_resident *resident, cl_mem requests, cl_mem replies);
/** The epoch's kernel itself, after the event `former` if there is one; `ran` receives its event. LOST. */
gyre_status opencl_enqueue(gyre_resident *resident, struct opencl_epoch *epoch, cl_event former,
                           cl_event *ran);

/** The event that the next epoch's kernel has to wait for, or NULL: an actor's state, or what handlers keep for their block,
 * goes from one epoch to the next. */
cl_event opencl_former(const gyre_resident *resident);
/** Whether a later command has to wait for an epoch's kernel alone. */
bool opencl_tells_run(const gyre_resident *resident);
/** Gives the epoch the next share of the launch's blocks. */
void opencl_turn_blocks(gyre_resident *resident, struct opencl_epoch *epoch);
/** Copies the table of handles to the device when it has changed. LOST. */
gyre_status opencl_copy_handles(gyre_resident *resident);

#endif
