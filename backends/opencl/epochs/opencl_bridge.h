/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the replies of bridged queues (their messages are stored back to back). */
#ifndef GYRE_OPENCL_BRIDGE_H
#define GYRE_OPENCL_BRIDGE_H

#include "backends/opencl/epochs/opencl_resident.h"

/**
 * Returns how many of `most` requests the pump may send to the device, so that even the largest replies to
 * them have room behind the replies of the epochs under way. Stores in the queue how many of these requests
 * one block may get.
 */
uint32_t opencl_bridge_fit(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most);
/**
 * Returns a bit for each queue that has requests and no room for the replies. Called while no epoch is under
 * way.
 */
uint64_t opencl_bridge_starved(gyre_resident *resident);
/**
 * Tells the clients of the `starved` queues to ring once there is room: `by` 1 asks for it, `by` UINT32_MAX
 * (subtracts 1 by wrapping) takes the wish back.
 */
void opencl_bridge_tell(const gyre_resident *resident, uint64_t starved, uint32_t by);

#endif
