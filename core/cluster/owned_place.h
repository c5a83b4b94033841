/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a shard that this member owns, written while the transport does not take it. One thread: the shard's. */
#ifndef GYRE_CORE_CLUSTER_OWNED_PLACE_H
#define GYRE_CORE_CLUSTER_OWNED_PLACE_H

#include <stdint.h>

#include "gyre/status.h"

struct gyre_shard;

/** LOST, with the sentence for a shard whose lease ran out. */
gyre_status gyre_shard_lost_lease(const struct gyre_shard *shard);
/**
 * After a call of the transport failed: OK after a nap when it should be made again. Else the status, or LOST: the lease ran out, or the shard
 * is to be given back and was tried for a lease since begin_ns.
 */
gyre_status gyre_shard_try_again(const struct gyre_shard *shard, gyre_status status, uint64_t begin_ns);
/** Writes shard->place until the transport took it, while the shard has its lease. LOST when another member took the shard. */
gyre_status gyre_shard_write_place(struct gyre_shard *shard);

#endif
