/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that poll the queues themselves (mode = resident). */
#ifndef GYRE_OPENCL_STAY_H
#define GYRE_OPENCL_STAY_H

#include "opencl_resident.h"

/** INVALID when lanes of the kernel meet: such kernels do not stay. */
gyre_status opencl_stay_check(const gyre_resident *resident);
/** Takes the blocks and enqueues the kernel that stays. INVALID when the device has not so many blocks left. */
gyre_status opencl_stay_start(gyre_resident *resident);
/** The watcher's thread: hands on the lines that handlers log, until the kernel left and opencl_stay_end was called. */
void *opencl_stay_watch(void *argument);
/** OK: all blocks have left. TIMEOUT. */
gyre_status opencl_stay_wait(gyre_resident *resident, uint64_t deadline_ns);
/** Waits for the end of the kernel, which has left; gives its blocks back. Also after a failed start. */
void opencl_stay_end(gyre_resident *resident);

#endif
