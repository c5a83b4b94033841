/* SPDX-License-Identifier: Apache-2.0 */
/* The records `place.SHARD`: who owns a shard. They choose an owner; what fences the earlier one is the log of states (kept.h). */
#ifndef GYRE_CORE_CLUSTER_PLACE_H
#define GYRE_CORE_CLUSTER_PLACE_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"

struct gyre_shard_place {
    uint64_t revision; /* 0: there is no record yet */
    uint64_t epoch;
    uint64_t
        incarnation; /* of the owner; without an owner: of the member that could not take the shard, or 0 */
    bool is_kept;    /* there is a checkpoint */
    char owner[GYRE_MEMBER_NAME_MAX]; /* "": nobody */
    struct gyre_cluster_trial trial;
    uint64_t closing_ns, pause_ns; /* as in the record */
    bool works;                    /* the owner handles requests */
    uint64_t handled;              /* as in the record */
    bool has_died; /* not in the record: whoever takes the shard knows that its owner did not give it back */
};

gyre_status gyre_place_read(struct gyre_transport *transport, uint32_t shard, struct gyre_shard_place *out);
/** Writes what `place` says if the record still has place->revision, which becomes the new one. AGAIN. */
gyre_status gyre_place_write(struct gyre_transport *transport, uint32_t shard,
                             struct gyre_shard_place *place);

#endif
