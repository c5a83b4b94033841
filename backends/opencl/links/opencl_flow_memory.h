/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of flows at a kernel (GYRE_FLOW). It is the host's, beside the flows (gyre_flow_head), and no device reaches it. So the
 * pump copies what the messages of an epoch need behind the cells of their replies, once for each flow, and back before it settles
 * them. Nobody else touches this kernel's part of a flow while a message of the flow is here.
 */
#ifndef GYRE_OPENCL_FLOW_MEMORY_H
#define GYRE_OPENCL_FLOW_MEMORY_H

#include "backends/opencl/epochs/opencl_linked.h"

/** Notes how much the kernel needs. */
void opencl_flow_memory_shape(const gyre_resident *resident);
/** Makes what finds the flows of an epoch of so many cells. False without memory. */
bool opencl_flow_memory_create(struct opencl_links *links, uint32_t cells);
void opencl_flow_memory_destroy(struct opencl_links *links);
/** Bytes from the first reply's cell to the end of `count` places behind so many cells. */
size_t opencl_flow_memory_end(const struct opencl_links *links, uint32_t cells, uint32_t count);
/** Whether the message belongs to no flow, so that its memory is its own, and zero at first. */
bool opencl_flow_memory_is_own(const struct opencl_message *message);
/** Gives each message of the epoch, whose cells are complete, its memory. */
void opencl_flow_memory_fill(gyre_resident *resident);
/** The memory of message i. */
unsigned char *opencl_flow_memory_of(const gyre_resident *resident, uint32_t i);
/** Copies the memory of the flows of messages that are not settled back. */
void opencl_flow_memory_give_back(gyre_resident *resident);

#endif
