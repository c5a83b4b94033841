/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner's side of a hand-over by order: the next owner has the states in its kernel before the shard stands still for it. The owner writes a
 * checkpoint while it serves, waits until the next owner says in offer.SHARD that it loaded that one, and only then gives the shard back: requests
 * wait no longer than those since that checkpoint take a second time. One thread: the shard's.
 */
#ifndef GYRE_CORE_CLUSTER_SHARD_HANDOVER_H
#define GYRE_CORE_CLUSTER_SHARD_HANDOVER_H

#include "core/cluster/shard.h"

/** One step, between two blocks of requests, of a shard that shard->hands_over. Asks the shard to be given back when it is time. */
gyre_status gyre_shard_hand_over(struct gyre_shard *shard);

#endif
