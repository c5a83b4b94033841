/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that poll the queues themselves (mode = resident), without a pump. */
#ifndef GYRE_OPENCL_STAY_H
#define GYRE_OPENCL_STAY_H

#include "backends/opencl/epochs/opencl_resident.h"

/** Returns INVALID when lanes of the kernel meet at barriers: such kernels cannot stay. */
gyre_status opencl_stay_check(const gyre_resident *resident);
/** Takes the blocks and enqueues the kernel that stays. INVALID when the device has too few blocks left. */
gyre_status opencl_stay_start(gyre_resident *resident);
/**
 * The watcher's thread: hands on the lines that handlers log, until the kernel has left and opencl_stay_end
 * was called.
 */
void *opencl_stay_watch(void *argument);
/** Returns OK when all blocks have left, TIMEOUT at the deadline. */
gyre_status opencl_stay_wait(gyre_resident *resident, uint64_t deadline_ns);
/**
 * Waits for the end of the kernel, whose blocks have left, and gives its blocks back. Also called after a
 * failed start.
 */
void opencl_stay_end(gyre_resident *resident);

#endif
