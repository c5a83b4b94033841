/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_SIMULATION_LINKS_UNIT_H
#define GYRE_SIMULATION_LINKS_UNIT_H

struct cpu_worker;

/** ring_bells of cpu_links.c: wakes those who got something. */
void links_unit_ring_bells(struct cpu_worker *worker);

#endif
