/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_ports.c, with a door to what pool.c needs of it. */
#include <backends/cpu/links/cpu_ports.c>

#include "pool_unit.h"

bool pool_unit_make_room(gyre_link_ring *ring)
{
    return make_room(ring, 1) != 0;
}

void pool_unit_publish(gyre_link_ring *ring, uint64_t number)
{
    const gyre_u64 head = ring->head;
    *(uint64_t *)(void *)(slot_of(ring, head) + 1) = number;
    publish(ring, head, 0, sizeof number);
    __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELAXED);
    device_jobs_publish(ring, 1);
}
