/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room that comes back to the sender of a link to another device (gyre_link_ring.credit): counted in memory of the sender, which asks
 * for it often. Lock: as of the link.
 */
#ifndef GYRE_CORE_LINKS_CREDITS_H
#define GYRE_CORE_LINKS_CREDITS_H

#include "core/links/pipeline.h"

/** Makes the memory where sender and target are on two devices of one home. EXHAUSTED. */
gyre_status gyre_link_credits_make(const gyre_pipeline *pipeline, struct gyre_link *link);
/** The address of the counts of ring `number`; 0: the ring itself has them. */
uint64_t gyre_link_credits_address(const struct gyre_link *link, uint32_t number);

/** gyre_link_store_read or gyre_link_store_peek. */
typedef gyre_status gyre_link_read(const struct gyre_link_store *store, uint64_t offset, uint64_t *words,
                                   uint64_t count);
/** Gives copies of the link's rings the counts that lie elsewhere. */
gyre_status gyre_link_credits_read(gyre_link_read *read, const struct gyre_link *link, gyre_link_ring *rings,
                                   uint32_t count);

#endif
