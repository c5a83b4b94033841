/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of pools (gyre_link_ring.pool), for backends whose threads move messages in memory of this process: who takes which
 * message. A ring with GYRE_POOL_NEWEST has an owner, who emits into it and takes its newest messages, and thieves, who take the
 * oldest; of another ring everybody takes the first. Each message is taken once, whoever else takes at the same time.
 *
 * Takes no lock. tests/models/link_pool.pml has the protocol of `ends`.
 */
#ifndef GYRE_DEVICE_JOBS_H
#define GYRE_DEVICE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/link_layout.h"

/** Returns how many messages nobody has taken; `most` at most. Others may take them at any time. */
uint32_t device_jobs_waiting(const gyre_link_ring *ring, uint32_t most);
/**
 * Takes messages of the ring, neighbours, `most` at most. `own`: the caller is the ring's owner. Returns how many; *first is the index of
 * the first one. Of a ring with GYRE_POOL_NEWEST the owner has to copy them before it emits: their places are those of its next
 * messages. Anybody else gives the places back when the messages were read.
 */
uint32_t device_jobs_take(gyre_link_ring *ring, bool own, uint32_t most, gyre_u64 *first);
/** Shows messages to the takers that the owner emitted into the ring, from `head` on. */
void device_jobs_publish(gyre_link_ring *ring, uint32_t emitted);

#endif
