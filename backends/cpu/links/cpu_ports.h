/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's own end of links: the rings that its ports lead to, room in them, and what a call of the handler emits.
 *
 * Takes no lock. A worker alone writes its rings, except the counts of fetched messages.
 */
#ifndef GYRE_CPU_PORTS_H
#define GYRE_CPU_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/dialect/cpu_module.h"
#include "gyre/link_layout.h"

struct cpu_worker;

/** Gets the memory that the worker needs; false without memory. cpu_ports_finish frees it, also after a failure. */
bool cpu_ports_init(struct cpu_worker *worker);
void cpu_ports_finish(struct cpu_worker *worker);

/** Takes the table that the control region names now, and finds the entry queues among the worker's queues. */
void cpu_ports_read(struct cpu_worker *worker);

/** Bytes from place to place of what is emitted to such a port. */
uint32_t cpu_port_stride(const gyre_cpu_port_type *port);
/** Bytes between a slot's header and the payload, in the slots of such a port. */
uint32_t cpu_port_front(const gyre_cpu_port_type *port);
/** The least power of two that holds so many messages. */
gyre_u64 cpu_port_places(gyre_u64 least);
/** Points a port to the worker's ring, or to memory of the worker's own. The place of the next message follows
 * (cpu_ports_make_room). */
void cpu_port_open(struct cpu_worker *worker, uint32_t number);
/** The worker's own ring of a port; NULL: the port has no link. */
gyre_link_ring *cpu_port_ring(const struct cpu_worker *worker, uint32_t port);

/** Whether all that one call may emit has room, as far as it waits for room. Always true for a kernel without ports. */
bool cpu_ports_have_room(const struct cpu_worker *worker);
/**
 * Finds room for all that one call may emit, and aims the ports at the places of the first messages. False when there is no
 * room.
 */
bool cpu_ports_make_room(struct cpu_worker *worker);
/**
 * Returns how many messages the call emitted for which its flow has to wait: one for each link, and for each subscriber of a topic
 * that is no tap and has room. *astray: a port without a link got one.
 */
uint32_t cpu_ports_count(struct cpu_worker *worker, const char **astray);
/** How many of the messages that the call emitted ask. */
uint32_t cpu_ports_count_asks(const struct cpu_worker *worker);
/**
 * Emits the worker's reply as the answer to the ask that the current message came by (links.ask). There is room for it. False when
 * the pipeline has no way back to the asker.
 */
bool cpu_ports_answer(struct cpu_worker *worker);
/** Forgets what the call emitted: a handler that fails has emitted nothing. */
void cpu_ports_take_back(struct cpu_worker *worker);
/** Has the kernel that begins rounds (links.rounds is not 0) begin one for a flow. There is room for the message that says so. */
void cpu_ports_begin_round(struct cpu_worker *worker, gyre_u64 origin, gyre_u32 round);
/** Sends what the call emitted on its way. */
void cpu_ports_publish(struct cpu_worker *worker, gyre_u64 origin);

/** Tells the targets whether the worker, about to sleep, waits for room in their rings. */
void cpu_ports_tell_starved(const struct cpu_worker *worker, bool starved);
/**
 * Takes back that the worker, who sleeps, waits for room in its rings, where there is some by now. Returns whether it had said
 * so: then whoever calls this wakes it, because no target does any more.
 */
bool cpu_ports_untell_starved(const struct cpu_worker *worker);
/**
 * Whether a ring of the worker, who sleeps, has no room, and its target was not told: whoever visited the worker since has used the
 * room.
 */
bool cpu_ports_have_untold(const struct cpu_worker *worker);

#endif
