/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed kernels whose keys are spread over several processes (docs/cluster.md), for applications. Members own shards of the keys and
 * handle their requests; clients reach the owner of a key through the transport of [cluster], wherever it is.
 *
 *     gyre_member_start(runtime, &(gyre_member_desc){.size = sizeof desc, .source = "accounts.gyre.c"}, &member);     a member
 *
 *     gyre_cluster_open(runtime, &desc, &cluster);                                                                  a client
 *     gyre_cluster_call(cluster, &deposit, sizeof deposit, &balance, sizeof balance, NULL, gyre_in_ms(10000));
 *
 * Every acknowledged request takes effect exactly once, whatever member dies, and requests of a key in the order in which a client sent
 * them, if the handler is deterministic: its replies and states depend on its requests and states alone.
 *
 * Threads: any function from any thread. Stability: as gyre.h.
 */
#ifndef GYRE_CLUSTER_H
#define GYRE_CLUSTER_H

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_member gyre_member;   /* this process's part in a cluster */
typedef struct gyre_cluster gyre_cluster; /* a client's connection */

/* ---- members ---- */

typedef struct gyre_member_desc {
    size_t size;
    const char *source, *kernel, *backend; /* of the keyed actor, as in gyre_launch_desc */
} gyre_member_desc;

/**
 * Makes this process a member of the cluster of [cluster]: it takes shards and handles their requests until gyre_member_stop. Shard N of
 * kernel K is a kernel `K#N` of the runtime, configured by [kernel.K] and [queue.K]. CONFIG when a setting does not fit, INVALID when the
 * kernel is no keyed actor, INCOMPATIBLE when the app has other types or another number of shards, UNAVAILABLE when the transport is
 * not there. Owner of *out: the caller, until gyre_member_stop, which has to come before gyre_close.
 */
GYRE_API gyre_status gyre_member_start(gyre_runtime *runtime, const gyre_member_desc *desc,
                                       gyre_member **out);
/** Gives all shards back, each with a checkpoint, and leaves. Accepts NULL. */
GYRE_API void gyre_member_stop(gyre_member *member);

typedef struct gyre_member_info {
    size_t size;
    char name[64];
    uint32_t shards, owned; /* of the app; owned by this member, and working */
    uint64_t handled;       /* requests that this member handled, also when a shard was restored */
    uint64_t duplicates;    /* requests that came twice, and were passed over */
    uint64_t checkpoints;   /* taken and kept */
    uint64_t taken, given,
        lost; /* shards that were taken, given back in order, and given up: another one took them, or an error */
    char trouble[256]; /* why a shard was given up last; "": none was */
} gyre_member_info;

/** Tells how the member fares: fills in the members of *info that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_member_info_get(gyre_member *member, gyre_member_info *info);

/* ---- clients ---- */

typedef struct gyre_cluster_desc {
    size_t size;
    const gyre_type *request,
        *reply;           /* GYRE_TYPE(...) of the messages; `request` is needed, because it has the key */
    uint64_t deadline_ns; /* until when the first member has to be there; 0: reach_ms of [cluster] */
    uint32_t goes_ahead;  /* 1: sending returns when requests are under way; see gyre_cluster_settle */
} gyre_cluster_desc;

/**
 * Connects to the cluster of [cluster] of the runtime, which launches nothing. UNAVAILABLE when the transport is not there, TIMEOUT when no
 * member ever was, INCOMPATIBLE when the types differ. Owner of *out: the caller, until gyre_cluster_close, which has to come before
 * gyre_close.
 */
GYRE_API gyre_status gyre_cluster_open(gyre_runtime *runtime, const gyre_cluster_desc *desc,
                                       gyre_cluster **out);
/**
 * Accepts NULL. Replies that were not received are lost to this client, and so are requests that are not known to be kept: with `goes_ahead`,
 * and after TIMEOUT, gyre_cluster_settle comes before.
 */
GYRE_API void gyre_cluster_close(gyre_cluster *cluster);

/**
 * Sends a request to the shard of its key. OK: the transport keeps it, and it is handled once, whatever happens to members. *index (may be
 * NULL) is its number. AGAIN when too many requests are unanswered; TIMEOUT: it is not known whether the transport has it: it is sent
 * again, once, by the next calls, and completed like any other.
 */
GYRE_API gyre_status gyre_cluster_send(gyre_cluster *cluster, const void *request, size_t size,
                                       uint64_t *index, uint64_t deadline_ns);
/**
 * Sends `count` requests that lie `size` bytes apart, those of one shard in as few blocks as possible. *sent: the first so many were sent as
 * by gyre_cluster_send, also after a failure; their numbers follow each other from *index on.
 */
GYRE_API gyre_status gyre_cluster_send_batch(gyre_cluster *cluster, const void *requests, size_t size,
                                             size_t count, uint64_t *index, size_t *sent,
                                             uint64_t deadline_ns);
/**
 * With `goes_ahead`, gyre_cluster_send and gyre_cluster_send_batch return OK when the requests are under way, where the transport can do that: up
 * to 8 blocks of each shard, the next one of a shard waits for the first of them. A request is kept when its reply comes, or when this function
 * returned OK since: then all that were sent are. What is lost on the way is sent again by the next calls until then, and lost for good when this process ends
 * or gyre_cluster_close is called before. TIMEOUT: some are not known to be kept yet. Without `goes_ahead` it settles those that were sent with TIMEOUT.
 */
GYRE_API gyre_status gyre_cluster_settle(gyre_cluster *cluster, uint64_t deadline_ns);
/** Receives the next completion: those of a shard in the order of their requests, those of different shards in any order. As gyre_receive. */
GYRE_API gyre_status gyre_cluster_receive(gyre_cluster *cluster, void *reply, size_t size,
                                          gyre_completion *completion, uint64_t deadline_ns);
/**
 * Receives up to `count` completions: replies `size` bytes apart, completions in an array. Waits for one, and takes with it those that are at
 * hand; *received tells how many there are. A failure comes alone: *received is 0 then.
 */
GYRE_API gyre_status gyre_cluster_receive_batch(gyre_cluster *cluster, void *replies, size_t size,
                                                size_t count, gyre_completion *completions, size_t *received,
                                                uint64_t deadline_ns);
/** Request and reply in one, as gyre_call. */
GYRE_API gyre_status gyre_cluster_call(gyre_cluster *cluster, const void *request, size_t request_size,
                                       void *reply, size_t reply_size, gyre_completion *completion,
                                       uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif
#endif
