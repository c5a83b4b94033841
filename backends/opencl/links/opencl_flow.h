/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message of a stage from the end of its handler on: notes the outcome in its flow, publishes what was emitted, and
 * completes the request of the flow with its last message. A request of a queue that enters no pipeline is completed at
 * once. Pumps of several kernels write one flow; its counters order them.
 */
#ifndef GYRE_OPENCL_FLOW_H
#define GYRE_OPENCL_FLOW_H

#include "backends/opencl/epochs/opencl_linked.h"

/** The bits of gyre_flow_id that hold the index of the request. */
#define OPENCL_FLOW_INDEX (((gyre_u64)1 << 56) - 1)

/**
 * Begins the flow of a request. False when the last flow of its place is not settled: only a program that breaks the
 * protocol sends so early, and its request has no completion.
 */
bool opencl_flow_begin(const struct opencl_links *links, const gyre_link_entry *entry, gyre_u64 index);
/** The flow of a message. */
gyre_flow *opencl_flow_of(const struct opencl_links *links, gyre_u64 origin);
/** Whether the flow of a message of a link exceeded its quota: then no handler is called for it any more. */
bool opencl_flow_is_over(const struct opencl_links *links, gyre_u64 origin);
/** Counts such a message, whose flow ends with the last of them. */
void opencl_flow_pass_over(gyre_resident *resident, const struct opencl_message *message);
/** Where the header of a flow is: its request's, or a copy that no other program can write. NULL: it has none. */
unsigned char *opencl_flow_header(const gyre_link_entry *entry, gyre_u32 place);
/** Completes a request that is not shown to the handler: as failed, or as dropped. Its flow has begun, if it has one. */
void opencl_flow_refuse(gyre_resident *resident, const struct opencl_message *message, gyre_i32 code,
                        const char *text);
void opencl_flow_drop(gyre_resident *resident, const struct opencl_message *message);
/** Whether the way of the message's completion is still there. */
bool opencl_flow_has_way(const struct opencl_links *links, const struct opencl_message *message);
/**
 * Settles message i of the epoch, whose reply is in its cell. Returns whether it failed; messages[i].again says whether its handler is
 * called again.
 */
bool opencl_flow_settle(gyre_resident *resident, uint32_t i);

#endif
