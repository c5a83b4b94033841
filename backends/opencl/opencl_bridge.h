/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the replies of queues whose messages are stored back to back. */
#ifndef GYRE_OPENCL_BRIDGE_H
#define GYRE_OPENCL_BRIDGE_H

#include "opencl_resident.h"

/**
 * How many of `most` requests may be sent to the device: for that many of the largest replies there is room
 * behind those of the epochs under way. Leaves in the queue how many of them a block may get.
 */
uint32_t opencl_bridge_fit(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most);
/** A bit for each queue that has requests and no room for the replies. Nothing is under way. */
uint64_t opencl_bridge_starved(gyre_resident *resident);
/** Says so to the clients of these queues, who ring when there is room; `by` all ones: no more. */
void opencl_bridge_tell(const gyre_resident *resident, uint64_t starved, uint32_t by);

#endif
