/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports of a kernel that can be a stage (opencl_linked.h): the rings that they lead to, room in these, and what is sent. A port
 * that leads to a topic has the ring of each subscriber, and what is emitted is copied into all of them. One that leads to a pool has a
 * ring that all members take from.
 * The pump alone writes the rings of its kernel, except the counts of fetched messages.
 */
#ifndef GYRE_OPENCL_PORTS_H
#define GYRE_OPENCL_PORTS_H

#include "backends/opencl/epochs/opencl_linked.h"

/** Aims the ports at the rings of the present table. */
void opencl_ports_aim(struct opencl_links *links);
/** Returns for how many messages there is room for all that their handlers may emit; `most` at most. */
uint32_t opencl_ports_room(const struct opencl_links *links, uint32_t most);
/**
 * Returns for how many messages that message i emitted its flow has to wait: one for each link, and for each subscriber of a topic
 * that is no tap and has room. *astray: a port without a link got one.
 */
uint32_t opencl_ports_count(const gyre_resident *resident, uint32_t i, const char **astray);
/** Sends what message i emitted on its way, once opencl_ports_count has counted it. */
void opencl_ports_publish(gyre_resident *resident, uint32_t i, gyre_u64 origin);
/** Whether the handler of message i, which did not fail, wants to be called again with it. */
bool opencl_ports_again(const gyre_resident *resident, uint32_t i);
/** How many of the messages that message i emitted ask. */
uint32_t opencl_ports_count_asks(const gyre_resident *resident, uint32_t i);
/** Whether an answer to the ask that the message came by has a way back to the asker. */
bool opencl_ports_can_answer(const struct opencl_links *links, const struct opencl_message *message);
/** Sends the reply of message i as that answer. */
void opencl_ports_answer(gyre_resident *resident, uint32_t i, gyre_u64 origin);
/** Has the kernel that begins rounds (links->rounds is not 0) begin one for a flow. There is room for the message that says so. */
void opencl_ports_begin_round(struct opencl_links *links, gyre_u64 origin, gyre_u32 round);
/** Tells the targets of links whether the pump, about to sleep, waits for room in their rings. */
void opencl_ports_tell_starved(const gyre_resident *resident, bool starved);
/** Wakes the kernels and programs that sleep and were sent something. */
void opencl_ports_ring(gyre_resident *resident);
/** Wakes all that the ports lead to. */
void opencl_ports_alarm(const struct opencl_links *links);

#endif
