/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a cluster keeps of a shard, and tells what does not agree: the place, the log of states with its checkpoints, the requests behind
 * the last one, replies that are not purged, and dead letters. It writes nothing, and may run beside members that work.
 */
#ifndef GYRE_CORE_CLUSTER_VERIFY_H
#define GYRE_CORE_CLUSTER_VERIFY_H

#include "core/cluster/app.h"
#include "core/cluster/place.h"

enum { GYRE_VERIFY_PROBLEM_SIZE = 400 };

struct gyre_verified {
    uint32_t shard;
    struct gyre_shard_place place;
    uint64_t checkpoint, position; /* the last checkpoint; the block of in.SHARD that it has the effect of */
    uint64_t clients;              /* that the checkpoint knows */
    uint64_t waiting;              /* requests behind the checkpoint, each counted once */
    uint64_t repeated;             /* requests that are there twice: owners pass over them */
    uint64_t replies;              /* that are not purged, each counted once */
    uint64_t letters;
    /* called for each thing that does not agree, with a sentence; the caller's */
    void (*problem)(void *context, const char *sentence);
    void *context;
    uint64_t problems;
};

/**
 * Verifies shard `shard` of `app`; the caller filled in `problem` and `context`. OK also when something does not agree. UNAVAILABLE, TIMEOUT:
 * the transport did not answer. EXHAUSTED.
 */
gyre_status gyre_cluster_verify(struct gyre_transport *transport, const struct gyre_cluster_app *app,
                                uint32_t shard, struct gyre_verified *verified);

#endif
