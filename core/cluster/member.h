/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of a cluster: a thread that keeps its record alive, looks at the others, and starts and ends its shards.
 *
 * Lock: site.lock guards the list of shards too. The thread alone changes the list.
 */
#ifndef GYRE_CORE_CLUSTER_MEMBER_H
#define GYRE_CORE_CLUSTER_MEMBER_H

#include <pthread.h>

#include "core/cluster/orders.h"
#include "core/cluster/roster.h"
#include "core/cluster/shard.h"
#include "gyre/cluster.h"

struct gyre_member {
    struct gyre_site site;
    struct gyre_cluster_member record; /* the thread's own */
    uint64_t revision;
    struct gyre_roster *roster;
    uint64_t *retry_ns; /* for each shard: when it may be taken again after a failure */
    bool *crashed;      /* and whether its kernel was lost with a request here */
    bool *
        unfinished; /* whether it ended otherwise than in order, so that its place may still name this member */
    uint64_t *second_ns; /* and when the second choice looks next whether the first one could not take it */
    uint32_t *vain; /* how often in a row it could not be taken, here or by the member that should own it */
    struct gyre_orders orders; /* as of the last look that found them whole */
    char told[512];            /* the last failure of a look that was told */
    uint32_t stop;             /* atomic */
    pthread_t thread;
    struct gyre_shard **shards; /* for each number; NULL: not here. Under site.lock */
};

/**
 * Writes the member's record, with its state, and extends the lease; counts a lapse when the lease had run out before the record was written.
 * AGAIN when the record is not as this member left it. The thread's own, after the start.
 */
gyre_status gyre_member_beat(struct gyre_member *member, enum gyre_member_state state);
/** One look: shards that ended are joined; others are started or given back. */
void gyre_member_tick(struct gyre_member *member);
/** Gives all shards back and joins them, while the lease is kept. */
void gyre_member_end_shards(struct gyre_member *member);

#endif
