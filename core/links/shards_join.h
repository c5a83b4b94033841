/* SPDX-License-Identifier: Apache-2.0 */
/* Shards over queues of several kernels, which are there already. */
#ifndef GYRE_CORE_LINKS_SHARDS_JOIN_H
#define GYRE_CORE_LINKS_SHARDS_JOIN_H

#include <stdbool.h>

#include "core/types/key.h"
#include "gyre/shards.h"

struct gyre_shards_joined {
    const char *name;
    gyre_queue *const *queues; /* ring number i */
    uint32_t count;
    gyre_shard_rule rule;
    const struct gyre_message_key *key; /* read with GYRE_SHARD_KEY alone */
    bool owned;                         /* gyre_shards_close closes the queues with the shards */
};

/**
 * The queues outlive the shards, unless they are owned, and take the same messages. EXHAUSTED. Owner of *out: the caller, until
 * gyre_shards_part or, where they are owned, gyre_shards_close.
 */
gyre_status gyre_shards_join(const struct gyre_shards_joined *joined, gyre_shards **out);
/** Makes waiting receivers return, and frees the shards; the queues stay. Accepts NULL. */
void gyre_shards_part(gyre_shards *shards);

#endif
