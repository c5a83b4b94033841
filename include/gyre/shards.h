/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several rings into one kernel behind one name, for applications that one ring is too narrow for: a ring for
 * each sending thread, or messages spread over rings by a key or in turn. With as many blocks as rings, each
 * block of a GPU has a ring for itself.
 *
 *     [kernel.trade]          [queue.orders]
 *     blocks = 4              rings = 4
 *                             shard = key
 *                             key = account
 *
 *     gyre_shards *orders;
 *     gyre_shards_desc desc = {.size = sizeof desc, .name = "orders"};
 *     gyre_shards_open(kernel, &desc, &orders);
 *     gyre_shards_send(orders, &order, sizeof order, NULL, gyre_in_ms(100));
 *     gyre_shards_receive(orders, &reply, sizeof reply, &from, NULL, gyre_in_ms(100));
 *
 * The order within a ring is kept: completions of a ring come in the order of the sends into it. So with `key`,
 * messages with equal keys are answered in the order in which a thread sent them; with `producer`, all messages of a
 * thread. Between rings there is no order.
 *
 * Each ring is a gyre_queue (gyre_shards_queue) with all that one can do. Threads, deadlines and errors as in
 * gyre.h; with `threads = one` the promise holds for all rings together. Stability: as gyre.h.
 */
#ifndef GYRE_SHARDS_H
#define GYRE_SHARDS_H

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_shards gyre_shards; /* the rings of one name */

/** Which ring a message goes to. */
typedef enum gyre_shard_rule {
    GYRE_SHARD_DEFAULT = 0,    /* as configured; built in: producer */
    GYRE_SHARD_PRODUCER = 1,   /* each sending thread has its ring; further threads share them evenly */
    GYRE_SHARD_KEY = 2,        /* that of the message's key: equal bytes, equal ring */
    GYRE_SHARD_ROUND_ROBIN = 3 /* each send, or batch, goes to the next one */
} gyre_shard_rule;

typedef struct gyre_shards_desc {
    size_t size;
    const char
        *name; /* [queue.NAME] configures every ring of it; the rings are the queues NAME/0, NAME/1, ... */
    uint32_t rings; /* 0: as configured */
    gyre_shard_rule rule;
    /** For the rule `key`: a field of the kernel's request type, "account" or "order.account". It may be an integer, a
     * float, an array of these, an id128, or the items of a text or of a span of these, in the message itself. NULL: as
     * configured. */
    const char *key;
    uint64_t capacity; /* each ring's; 0: as configured */
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    const gyre_type *request, *reply; /* the types that the caller sends and receives; NULL: unchecked */
} gyre_shards_desc;

/**
 * Opens the rings, also while the kernel runs. INVALID when the key is no field of the request type or has no
 * bytes of its own, CONFIG when it is that of the section. Owner of *out: the caller, until gyre_shards_close, or the kernel's release.
 */
GYRE_API gyre_status gyre_shards_open(gyre_kernel *kernel, const gyre_shards_desc *desc, gyre_shards **out);

/** Detaches all rings from the kernel; receivers that wait return CLOSED. Accepts NULL. */
GYRE_API void gyre_shards_close(gyre_shards *shards);

GYRE_API uint32_t gyre_shards_count(const gyre_shards *shards);
/** Ring `ring`, the shards' own, which gyre_queue_close refuses; NULL when there is none. */
GYRE_API gyre_queue *gyre_shards_queue(gyre_shards *shards, uint32_t ring);

/**
 * The ring that a request of the calling thread goes to next: for zero-copy sends. A round robin moves on.
 * INVALID as gyre_shards_send.
 */
GYRE_API gyre_status gyre_shards_pick(gyre_shards *shards, const void *request, size_t size, uint32_t *ring);

/** Where a request went: its ring, and its number there. */
typedef struct gyre_shard_ticket {
    uint32_t ring;
    uint64_t index;
} gyre_shard_ticket;

/** As gyre_send, into the ring that the rule says; `ticket` may be NULL. */
GYRE_API gyre_status gyre_shards_send(gyre_shards *shards, const void *request, size_t size,
                                      gyre_shard_ticket *ticket, uint64_t deadline_ns);

/**
 * As gyre_send_batch: the first *sent of the requests were accepted, also on failure. By key, neighbours of
 * one ring travel together, and the call goes on to the next ring without waiting.
 */
GYRE_API gyre_status gyre_shards_send_batch(gyre_shards *shards, const void *requests, size_t size,
                                            size_t count, size_t *sent, uint64_t deadline_ns);

/** As gyre_call, in the ring that the rule says. */
GYRE_API gyre_status gyre_shards_call(gyre_shards *shards, const void *request, size_t request_size,
                                      void *reply, size_t reply_size, gyre_completion *completion,
                                      uint64_t deadline_ns);

/**
 * As gyre_receive, from any ring that has a completion, in turns; *ring (may be NULL) tells which. CLOSED when all
 * rings are closed and nothing is under way. When two threads receive at once, either may return first with the later
 * of two completions of a ring: order needs one receiver, or one for each ring.
 */
GYRE_API gyre_status gyre_shards_receive(gyre_shards *shards, void *reply, size_t size, uint32_t *ring,
                                         gyre_completion *completion, uint64_t deadline_ns);

/** Where gyre_shards_receive_batch puts completions of one ring. */
typedef struct gyre_shard_batch {
    size_t size;
    void *replies; /* `reply_size` bytes apart */
    size_t reply_size;
    size_t count;                 /* how many completions there is room for */
    gyre_completion *completions; /* as many, or NULL as in gyre_receive_batch */
    size_t received;              /* out */
    uint32_t ring;                /* out: the ring that they are from */
} gyre_shard_batch;

/** As gyre_receive_batch, from one ring that has completions; the next call begins with the next ring. */
GYRE_API gyre_status gyre_shards_receive_batch(gyre_shards *shards, gyre_shard_batch *batch,
                                               uint64_t deadline_ns);

/** The sums over all rings; `high_water` is the largest of one. */
GYRE_API gyre_status gyre_shards_stats_get(const gyre_shards *shards, gyre_queue_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
