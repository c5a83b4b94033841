/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at a cluster from outside, for the command: who is a member, and who owns which shard. It writes no record and no log; opening the
 * transport before it may make an empty folder or stream.
 */
#ifndef GYRE_CORE_CLUSTER_LOOK_H
#define GYRE_CORE_CLUSTER_LOOK_H

#include "core/cluster/app.h"
#include "core/cluster/orders.h"
#include "core/cluster/place.h"
#include "core/cluster/roster.h"

struct gyre_cluster_look {
    struct gyre_cluster_app app;
    struct gyre_roster roster; /* is_alive: as far as the time of the look tells */
    struct gyre_orders orders;
    char trouble[400];               /* why there are none, when they are damaged; "": they are not */
    struct gyre_shard_place *places; /* of each shard */
    uint64_t *requests;              /* of each shard: the number of the last block that was sent to it */
    uint64_t now_ns;                 /* when the last look at the members began */
};

/**
 * Looks at the members twice, `apart_ns` apart, since a member is alive while its record changes. NOT_FOUND when no member ever was there.
 */
gyre_status gyre_cluster_look_take(struct gyre_transport *transport, uint64_t apart_ns,
                                   struct gyre_cluster_look *look);
void gyre_cluster_look_finish(struct gyre_cluster_look *look);
/** How many shards a member owns by their places: what its own record says is what it knew before it was killed. */
uint32_t gyre_cluster_look_owned(const struct gyre_cluster_look *look,
                                 const struct gyre_roster_member *member);
/** How a member fares, in a word: "here", "leaving", "draining", "drained", "gone", or "silent": its record did not change. */
const char *gyre_cluster_look_word(const struct gyre_cluster_look *look,
                                   const struct gyre_roster_member *member);

#endif
