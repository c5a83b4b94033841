/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a client that may be in the log of their shard or not: those that are under way, and those of which nobody knows what became. They are
 * kept in their order until they are known to be there, and whatever is behind one that was lost is appended again, too: the shard passes over it
 * until then. All functions are called under the client's lock.
 */
#ifndef GYRE_CORE_CLUSTER_CLIENT_WAY_H
#define GYRE_CORE_CLUSTER_CLIENT_WAY_H

#include "core/cluster/client.h"

enum { GYRE_CLIENT_AHEAD_MAX = 8 }; /* blocks of a client that are under way to a shard */

struct gyre_client_way {
    struct gyre_client_way *following; /* the one that was sent behind it */
    gyre_transport_ticket *ticket;     /* NULL: it is not under way, or nobody knows any more */
    gyre_transport_entry entry;
    uint64_t first; /* the number of its first request */
    char log[GYRE_CLUSTER_NAME_SIZE], id[GYRE_CLUSTER_NAME_SIZE];
    unsigned char bytes[];
};

/** The names that the transport needs for a block with that first number. */
void gyre_client_name_block(const struct gyre_cluster *cluster, uint32_t number, uint64_t first,
                            char log[GYRE_CLUSTER_NAME_SIZE], char id[GYRE_CLUSTER_NAME_SIZE]);
/** How many requests of the shard, in front of the next one, may not be there. */
uint32_t gyre_client_unsettled(const struct gyre_client_shard *shard);

/**
 * Until one more block may be sent to the shard: everything before it is there, or is under way with room beside it. TIMEOUT: not until the
 * deadline.
 */
gyre_status gyre_client_await_way(struct gyre_cluster *cluster, uint32_t number, uint64_t deadline_ns);
/** Keeps a block, and begins to append it. False: it is not under way, as without memory to keep it. */
bool gyre_client_begin(struct gyre_cluster *cluster, uint32_t number, const unsigned char *bytes,
                       size_t size);
/** Keeps a block that may be in the log. Without memory nothing can be sent to the shard any more. */
void gyre_client_keep(struct gyre_cluster *cluster, uint32_t number, const unsigned char *bytes, size_t size);
/**
 * Appends a block until it is known to be in the log, or the deadline. TIMEOUT: not known; another failure: it is not. `status`: what became of
 * an earlier try.
 */
gyre_status gyre_client_append(struct gyre_cluster *cluster, gyre_transport_entry *entry, gyre_status status,
                               uint64_t deadline_ns);
/** Looks what became of the blocks of a shard, and appends again what is not there. As gyre_client_settle. */
gyre_status gyre_client_settle_shard(struct gyre_cluster *cluster, uint32_t number, uint64_t deadline_ns);

#endif
