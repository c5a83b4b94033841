/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner's side of a hand-over by order: the next owner has the states before the shard stands still for it, whatever their size.
 *
 *   owner                                        the one that awaits the shard (await_place of shard.c)
 *   takes no checkpoint any more                 loads the last one, and says so in offer.SHARD
 *   says in place.SHARD what it has answered     handles the same blocks, publishes nothing, and says how far it came
 *   and so on; then gives the shard back         takes it, handles the few blocks that are left, and goes on
 *
 * What it followed counts only if the last checkpoint is still the one that it loaded, by its fence; else it loads that one. One thread: the shard's.
 */
#ifndef GYRE_CORE_CLUSTER_SHARD_HANDOVER_H
#define GYRE_CORE_CLUSTER_SHARD_HANDOVER_H

#include "core/cluster/shard.h"

/** One step, between two blocks of requests, of a shard that shard->hands_over. Asks the shard to be given back when it is time. */
gyre_status gyre_shard_hand_over(struct gyre_shard *shard);

#endif
