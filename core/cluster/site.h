/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a member's shards share: the transport, the kernel that each of them launches, times, the lease and counts. Lock: `lock`, for `info`;
 * everything else is constant while shards are there, unless it says otherwise.
 */
#ifndef GYRE_CORE_CLUSTER_SITE_H
#define GYRE_CORE_CLUSTER_SITE_H

#include <pthread.h>

#include "core/cluster/app.h"
#include "core/device/runtime.h"
#include "gyre/cluster.h"

struct gyre_site {
    gyre_runtime *runtime;
    struct gyre_transport *transport;
    char *source, *kernel, *backend; /* as given; NULL: none */
    struct gyre_cluster_app app;
    uint64_t lease_ns, settle_ns, checkpoint_ns, checkpoint_requests, reach_ns;
    char name[GYRE_MEMBER_NAME_MAX]; /* of the member, */
    uint64_t incarnation;            /* and which process of that name it is */
    uint64_t lease_until_ns;         /* atomic: others may take the shards from then on */
    uint64_t lapses;         /* atomic: how often it was renewed after that; written before lease_until_ns */
    pthread_mutex_t careful; /* held by the one shard that is careful (trial.h) */
    pthread_mutex_t lock;
    gyre_member_info info;
};

/** Whether nobody else may take a shard that this member takes now. Any thread. */
static inline bool gyre_site_has_lease(const struct gyre_site *site, uint64_t now_ns)
{
    return now_ns < __atomic_load_n(&site->lease_until_ns, __ATOMIC_ACQUIRE);
}

/**
 * Whether nobody else may own a shard that was taken when `lapses` was that number: a lease that ran out and was renewed does not bring back what
 * another member may have taken in between. Any thread. The acquire pairs with the release in gyre_member_beat.
 */
static inline bool gyre_site_kept_lease(const struct gyre_site *site, uint64_t lapses, uint64_t now_ns)
{
    return gyre_site_has_lease(site, now_ns) && lapses == __atomic_load_n(&site->lapses, __ATOMIC_ACQUIRE);
}

/** Counts something of `info`. Any thread. */
static inline void gyre_site_count(struct gyre_site *site, uint64_t *counter, uint64_t more)
{
    pthread_mutex_lock(&site->lock);
    *counter += more;
    pthread_mutex_unlock(&site->lock);
}

#endif
