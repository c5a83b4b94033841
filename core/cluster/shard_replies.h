/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of a shard (shard.h) on their way to the logs of clients. One thread: the shard's. */
#ifndef GYRE_CORE_CLUSTER_SHARD_REPLIES_H
#define GYRE_CORE_CLUSTER_SHARD_REPLIES_H

#include "core/cluster/shard.h"

/** Adds a reply of the client to the block of replies; publishes what has no room beside it. `contents`: the reply, or NULL for a failure. */
gyre_status gyre_shard_add_reply(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                                 uint64_t number, const gyre_completion *completion,
                                 const unsigned char *contents);
/** Begins to publish the replies that were added; they may be under way when it returns. Statuses: as below. */
gyre_status gyre_shard_send_replies(struct gyre_shard *shard);
/** Looks what became of replies that are under way, and publishes them again where they are not there. Does not wait for them. */
gyre_status gyre_shard_look_at_replies(struct gyre_shard *shard);
/**
 * Publishes the replies that were added, and returns when they and those before them are there. LOST when the shard is not this member's any more, or is to be given back and the client's log takes
 * nothing: then nothing that they are the replies to counts as handled.
 */
gyre_status gyre_shard_publish(struct gyre_shard *shard);

#endif
