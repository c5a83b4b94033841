/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a request: read from its reply slot, and written there by the host where no device writes it. */
#ifndef GYRE_CORE_RING_OUTCOME_H
#define GYRE_CORE_RING_OUTCOME_H

#include "core/ring/ring.h"

/** Whether a device may write `outcome` for a message that it completed. */
static inline bool gyre_outcome_is_known(uint32_t outcome)
{
    return outcome - GYRE_OUTCOME_REPLY <= GYRE_OUTCOME_UNHANDLED - GYRE_OUTCOME_REPLY;
}

/** Makes a failure of a completion that nobody else writes to: everything except its sequence. */
void gyre_slot_fail(gyre_slot *slot, int32_t code, const char *text);

/**
 * Looks at completions [first, end) as far as they are there: one with an outcome that no device may write becomes a
 * failure that says so.
 */
void gyre_outcomes_look(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/** Completes request `index` as unhandled; the device has left. Rings nobody. */
void gyre_outcome_unhandled(const struct gyre_ring *ring, uint64_t index);

#endif
