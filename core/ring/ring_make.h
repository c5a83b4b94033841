/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, opens and frees the memory of a ring (ring.h). */
#ifndef GYRE_CORE_RING_RING_MAKE_H
#define GYRE_CORE_RING_RING_MAKE_H

#include "core/ring/ring.h"

/**
 * Makes the ring's region and lays it out, or opens the region behind `descriptor` that another program made (-1: a new
 * region). `label` is for sentences and /proc; the client keeps its count of received completions at `received`.
 * EXHAUSTED, INVALID; the caller calls gyre_ring_destroy after a failure, too.
 */
gyre_status gyre_ring_create(struct gyre_ring *ring, const struct gyre_queue_options *options, int descriptor,
                             const char *label, const uint64_t *received);

/** Frees the ring's memory. Accepts a zeroed ring whose region is GYRE_REGION_NONE. */
void gyre_ring_destroy(struct gyre_ring *ring);

#endif
