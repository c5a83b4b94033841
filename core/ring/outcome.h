/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the outcome in a reply slot, and writes one when the host, not the device, completes a request. */
#ifndef GYRE_CORE_RING_OUTCOME_H
#define GYRE_CORE_RING_OUTCOME_H

#include "core/ring/ring.h"

/** Whether a device may write `outcome` for a message that it completed. */
static inline bool gyre_outcome_is_known(uint32_t outcome)
{
    return outcome - GYRE_OUTCOME_REPLY <= GYRE_OUTCOME_UNHANDLED - GYRE_OUTCOME_REPLY;
}

/** Writes a failure into a reply slot, except for its sequence. No other thread or device may write to the slot. */
void gyre_slot_fail(gyre_slot *slot, int32_t code, const char *text);

/**
 * Checks the outcomes of completions [first, end), up to the first that is not there yet. An outcome that no device may
 * write becomes a failure that says so.
 */
void gyre_outcomes_look(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/** Completes request `index` as unhandled, after the device has left. Rings no bell. */
void gyre_outcome_unhandled(const struct gyre_ring *ring, uint64_t index);

#endif
