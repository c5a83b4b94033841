/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several rings into one kernel under one name, for applications that need more than one ring can carry: a ring for
 * each sending thread, or messages spread over rings by a key or in turn. With as many blocks as rings, each block of
 * a GPU has a ring for itself.
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
 * messages with equal keys are answered in the order in which a thread sent them. With `producer`, all messages of a
 * thread are. Between rings there is no order.
 *
 * Each ring is a gyre_queue (gyre_shards_queue) and takes the calls of a gyre_queue. Threads, deadlines and errors as
 * in gyre.h; with `threads = one` the promise holds for all rings together. Stability: as gyre.h.
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
    GYRE_SHARD_DEFAULT = 0, /* as configured; built in: producer */
    /* each sending thread has its own ring; when there are more threads than rings, they share the rings evenly */
    GYRE_SHARD_PRODUCER = 1,
    GYRE_SHARD_KEY = 2,        /* the ring of the message's key: equal bytes, equal ring */
    GYRE_SHARD_ROUND_ROBIN = 3 /* each send, or batch, goes to the next ring */
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
    uint64_t capacity; /* capacity of each ring; 0: as configured */
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    const gyre_type *request, *reply; /* the types that the caller sends and receives; NULL: unchecked */
} gyre_shards_desc;

/**
 * Opens the rings. The kernel may be running. INVALID when the key of `desc` is no field of the request type or has no
 * bytes of its own; CONFIG when the key of the section of the configuration is wrong in this way. Owner of *out: the
 * caller, until gyre_shards_close, or the kernel's release.
 */
GYRE_API gyre_status gyre_shards_open(gyre_kernel *kernel, const gyre_shards_desc *desc, gyre_shards **out);

/** Detaches all rings from the kernel; receivers that wait return CLOSED. Accepts NULL. Not for those of a gyre_spread. */
GYRE_API void gyre_shards_close(gyre_shards *shards);

/** Returns the number of rings; 0 for NULL. */
GYRE_API uint32_t gyre_shards_count(const gyre_shards *shards);
/** Returns ring number `ring`, or NULL when there is none. The shards own it: gyre_queue_close refuses it. */
GYRE_API gyre_queue *gyre_shards_queue(gyre_shards *shards, uint32_t ring);

/**
 * Writes the ring that the next request of the calling thread goes to, for zero-copy sends. With the rule round robin,
 * the call moves on to the next ring. INVALID as in gyre_shards_send.
 */
GYRE_API gyre_status gyre_shards_pick(gyre_shards *shards, const void *request, size_t size, uint32_t *ring);

/** Where a request went: its ring, and its number there. */
typedef struct gyre_shard_ticket {
    uint32_t ring;
    uint64_t index;
} gyre_shard_ticket;

/** Sends as gyre_send does, into the ring that the rule chooses. `ticket` may be NULL. */
GYRE_API gyre_status gyre_shards_send(gyre_shards *shards, const void *request, size_t size,
                                      gyre_shard_ticket *ticket, uint64_t deadline_ns);

/**
 * Sends as gyre_send_batch does: the first *sent requests were accepted, even on failure. With the rule key,
 * neighbours that go to the same ring travel together, and the call goes on to the next ring without waiting.
 */
GYRE_API gyre_status gyre_shards_send_batch(gyre_shards *shards, const void *requests, size_t size,
                                            size_t count, size_t *sent, uint64_t deadline_ns);

/** Calls as gyre_call does, in the ring that the rule chooses. */
GYRE_API gyre_status gyre_shards_call(gyre_shards *shards, const void *request, size_t request_size,
                                      void *reply, size_t reply_size, gyre_completion *completion,
                                      uint64_t deadline_ns);

/**
 * Receives as gyre_receive does, from any ring that has a completion; the rings take turns. *ring (may be NULL)
 * receives the ring's number. CLOSED when all rings are closed and no message is under way. When two threads receive
 * at once, either thread may return first with the later of two completions of a ring: order needs one receiver, or
 * one receiver for each ring.
 */
GYRE_API gyre_status gyre_shards_receive(gyre_shards *shards, void *reply, size_t size, uint32_t *ring,
                                         gyre_completion *completion, uint64_t deadline_ns);

/** Room for gyre_shards_receive_batch to put completions of one ring into. */
typedef struct gyre_shard_batch {
    size_t size;
    void *replies; /* room for replies, `reply_size` bytes apart */
    size_t reply_size;
    size_t count;                 /* how many completions there is room for */
    gyre_completion *completions; /* room for as many completions, or NULL as in gyre_receive_batch */
    size_t received;              /* out: how many completions were received */
    uint32_t ring;                /* out: the ring that the completions came from */
} gyre_shard_batch;

/**
 * Receives as gyre_receive_batch does, from one ring that has completions. The next call begins with the next ring.
 */
GYRE_API gyre_status gyre_shards_receive_batch(gyre_shards *shards, gyre_shard_batch *batch,
                                               uint64_t deadline_ns);

/** Adds up the figures of all rings; `high_water` is the largest of all rings. */
GYRE_API gyre_status gyre_shards_stats_get(const gyre_shards *shards, gyre_queue_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
