/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_links.c, with a door to what a sender that is no worker, and pool.c, need of it. */
#include <backends/cpu/links/cpu_links.c>

#include "links_unit.h"
#include "pool_unit.h"

void links_unit_ring_bells(struct cpu_worker *worker)
{
    ring_bells(worker);
}

void pool_unit_give_back(const struct cpu_worker *worker, gyre_link_ring *ring, uint64_t index)
{
    give_back(worker, ring, index, index + 1);
}
