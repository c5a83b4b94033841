/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record `offer.SHARD`: what a member that is to take the shard says about it: it launched the kernel and waits for the shard, or it cannot
 * take it, and why. An owner that goes on serving gives its shard to a member that is ready alone. Nothing in it changes who owns a shard: that
 * is the record of its place (place.h). No state.
 */
#ifndef GYRE_CORE_CLUSTER_OFFER_H
#define GYRE_CORE_CLUSTER_OFFER_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"

/** Reads and checks the record; state 0 when there is none. The text is printable. INCOMPATIBLE. */
gyre_status gyre_offer_read(struct gyre_transport *transport, uint32_t shard, struct gyre_cluster_offer *out,
                            uint64_t *revision);
/**
 * Writes the record over an earlier or a damaged one. A failure does not take the place of what another member offers at the same epoch: OK then,
 * too. Repeats while others write, until the deadline.
 */
gyre_status gyre_offer_write(struct gyre_transport *transport, uint32_t shard,
                             const struct gyre_cluster_offer *offer, uint64_t deadline_ns);

#endif
