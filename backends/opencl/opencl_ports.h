/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports of a kernel that can be a stage (opencl_linked.h): the rings that they lead to, room in these, and what is sent.
 * The pump alone writes the rings of its kernel, except the counts of fetched messages.
 */
#ifndef GYRE_OPENCL_PORTS_H
#define GYRE_OPENCL_PORTS_H

#include "opencl_linked.h"

/** Aims the ports at the rings of the present table. */
void opencl_ports_aim(struct opencl_links *links);
/** Returns for how many messages there is room for all that their handlers may emit; `most` at most. */
uint32_t opencl_ports_room(const struct opencl_links *links, uint32_t most);
/** Returns how many messages to links message i emitted. *astray: a port without a link got one. */
uint32_t opencl_ports_count(const gyre_resident *resident, uint32_t i, const char **astray);
/** Sends what message i emitted on its way. There is room for it. */
void opencl_ports_publish(gyre_resident *resident, uint32_t i, gyre_u64 origin);
/** Tells the targets of links whether the pump, about to sleep, waits for room in their rings. */
void opencl_ports_tell_starved(const gyre_resident *resident, bool starved);
/** Wakes the kernels that sleep and were sent something. */
void opencl_ports_ring(gyre_resident *resident);

#endif
