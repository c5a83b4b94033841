/* SPDX-License-Identifier: Apache-2.0 */
/* What pool.c needs of cpu_ports.c and cpu_links.c, which have it for themselves. */
#ifndef GYRE_SIMULATION_POOL_UNIT_H
#define GYRE_SIMULATION_POOL_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/link_layout.h"

struct cpu_worker;

/** Whether there is room for one more message (make_room of cpu_ports.c). */
bool pool_unit_make_room(gyre_link_ring *ring);
/** Writes a message and publishes it, as publish_jobs of cpu_ports.c. */
void pool_unit_publish(gyre_link_ring *ring, uint64_t number);
/** give_back of cpu_links.c, of one message. */
void pool_unit_give_back(const struct cpu_worker *worker, gyre_link_ring *ring, uint64_t index);

#endif
