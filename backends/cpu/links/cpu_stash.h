/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a link of a cycle that are shared by key (GYRE_LINKING_KEY_CYCLES): a block that has no room for what its handler may
 * emit takes its own ones out of the rings all the same, and keeps copies of them. Otherwise two blocks could wait for each other for
 * ever, each with a full ring whose first message is the other's: room comes back in order only, and nobody else may handle it.
 *
 * The messages of a cycle that are alive are at most `window` times `quota` of their pipeline, so the copies have a bound.
 * They are handled in the order in which they were taken, before any message of such a ring.
 *
 * Takes no lock: a stash belongs to its worker, with the worker's seat.
 */
#ifndef GYRE_CPU_STASH_H
#define GYRE_CPU_STASH_H

#include "backends/cpu/cpu_resident.h"
#include "gyre/link_layout.h"

/** A message in the stash; the request follows it. */
struct cpu_stashed {
    gyre_u64 origin;
    gyre_link_ask ask;
    gyre_u32 length;
    gyre_u32 has_ask;
};

/** Copies a message of the ring. False, and nothing is changed: there is no memory for it now. */
bool cpu_stash_add(struct cpu_worker *worker, const gyre_link_ring *ring, const gyre_link_slot *slot);

/** The message that is handled next; NULL: there is none. Valid until cpu_stash_add or cpu_stash_pass. */
const struct cpu_stashed *cpu_stash_first(const struct cpu_worker *worker);

/** The first message was handled. */
void cpu_stash_pass(struct cpu_worker *worker);

void cpu_stash_finish(struct cpu_worker *worker);

#endif
