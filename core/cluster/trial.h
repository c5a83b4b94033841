/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the request whose handler takes each owner of a shard down, and gives it up.
 *
 * An owner that follows one that died is careful with the blocks that the dead one may have read. It marks each in the place before it handles it.
 * The owner after a death in a marked block takes a checkpoint in front of it, and marks each request of it, which it handles alone. A
 * request at which enough owners died so is kept as a dead letter in the log dead.SHARD and answered as failed. The letter is the decision: each
 * later owner reads it before it handles the block again. A request that an earlier owner answered, and died before its checkpoint, is not given up: its
 * client counts on its effect. While no owner dies nothing is written for it.
 *
 * A handler takes all shards of its process down, so one shard of a process at a time is careful: a mark of another one would be blamed for it.
 *
 * One thread: the shard's.
 */
#ifndef GYRE_CORE_CLUSTER_TRIAL_H
#define GYRE_CORE_CLUSTER_TRIAL_H

#include "core/cluster/format.h"
#include "core/cluster/place.h"

struct gyre_shard;

struct gyre_trial {
    char log[GYRE_CLUSTER_NAME_SIZE];    /* dead.SHARD */
    uint64_t last;                       /* its last block */
    bool holds;                          /* site->careful */
    bool has_waited;                     /* for it, in vain: it does not wait again */
    uint64_t careful_until;              /* blocks up to this one are marked; 0: none is */
    bool is_alone;                       /* each request of this block is marked and handled alone */
    struct gyre_cluster_letter *letters; /* those that the checkpoint does not cover; without the bytes */
    size_t count;
};

/** Counts the death of the owner that `place` names, before the place is taken: pure. */
void gyre_trial_count_death(struct gyre_shard_place *place);
/** After the checkpoint was read: the letters, and whether to be careful. INCOMPATIBLE when the log of letters is damaged. */
gyre_status gyre_trial_begin(struct gyre_shard *shard);
void gyre_trial_finish(struct gyre_shard *shard);
/** Before a block: marks it, once no other shard is careful. LOST when another member took the shard, or it is to be given back. */
gyre_status gyre_trial_block(struct gyre_shard *shard, uint64_t position);
/** Before a request of it, when no other is under way if is_alone: marks it, or says that it is given up. */
gyre_status gyre_trial_request(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                               uint64_t number, uint64_t position, const struct gyre_cluster_walk *walk,
                               bool *is_given_up);
/** After a block: ends to be careful behind the last block that the dead owner may have read. */
gyre_status gyre_trial_after(struct gyre_shard *shard);

#endif
