/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of a cluster: a thread that keeps its record alive, looks at the others, and starts and ends its shards.
 *
 * Lock: `lock` guards the list of shards and `info`. The thread alone changes the list.
 */
#ifndef GYRE_CORE_CLUSTER_MEMBER_H
#define GYRE_CORE_CLUSTER_MEMBER_H

#include <pthread.h>

#include "core/cluster/app.h"
#include "core/cluster/roster.h"
#include "core/cluster/shard.h"
#include "core/device/runtime.h"
#include "gyre/cluster.h"

struct gyre_member {
    gyre_runtime *runtime;
    struct gyre_transport *transport;
    char *source, *kernel, *backend; /* as given; NULL: none */
    struct gyre_cluster_app app;
    uint64_t lease_ns, settle_ns, checkpoint_ns, checkpoint_requests, reach_ns; /* constant */

    struct gyre_cluster_member record; /* the thread's own */
    uint64_t revision;
    struct gyre_roster *roster;
    uint64_t *retry_ns; /* for each shard: when it may be taken again after a failure */

    uint64_t lease_until_ns; /* atomic: others may take the shards from then on */
    uint32_t stop;           /* atomic */
    pthread_t thread;
    pthread_mutex_t lock;
    struct gyre_shard **shards; /* for each number; NULL: not here */
    gyre_member_info info;
};

/** Whether nobody else may own this member's shards yet. Any thread. */
static inline bool gyre_member_has_lease(const struct gyre_member *member, uint64_t now_ns)
{
    return now_ns < __atomic_load_n(&member->lease_until_ns, __ATOMIC_ACQUIRE);
}
/** Counts something of `info`. Any thread. */
void gyre_member_count(struct gyre_member *member, uint64_t *counter, uint64_t more);

/** Writes the member's record, with its state; extends the lease. LOST when another process has taken its name. */
gyre_status gyre_member_beat(struct gyre_member *member, enum gyre_member_state state);
/** One look: shards that ended are joined; others are started or given back. */
void gyre_member_tick(struct gyre_member *member);
/** Gives all shards back and joins them, while the lease is kept. */
void gyre_member_end_shards(struct gyre_member *member);

#endif
