/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes the origin of requests (the client that sent a request), for a queue with checkpoints or a journal. Checkpoints and
 * journals need senders that wait while they are behind, and memory that no other program writes. Another program
 * guarantees neither, so its requests are relayed into the queue (core/attach/relay.h). The journal stores each origin, so
 * that the server, when it runs again, knows which client gets a completion.
 *
 * The server also tells a relayed client how far its requests are in checkpoints and in the journal (gyre_promises). It
 * writes this into the device's line (cache line) of the client's ring, because the server is that ring's device.
 */
#ifndef GYRE_CORE_QUEUE_ORIGIN_H
#define GYRE_CORE_QUEUE_ORIGIN_H

#include "core/queue/queue.h"

/** The client that sent a request. The number of a client without a name is valid for one run of the server only. */
struct gyre_origin {
    uint64_t client, index; /* `client` 0: this program; `index`: the request's number at its client */
};

/** The origin that is noted for one slot of the ring. */
struct gyre_queue_origin {
    uint64_t request; /* index + 1 of the request with this origin */
    struct gyre_origin origin;
};

/** Lets requests of the queue have origins from now on. Does nothing for a queue that already does. Any thread. EXHAUSTED. */
gyre_status gyre_origins_create(gyre_queue *queue);
/** Notes the origin of request `index`. Called by its sender before the request is published. */
void gyre_origin_set(gyre_queue *queue, uint64_t index, struct gyre_origin origin);
/** As gyre_origin_set, for `count` requests from `index` on, which are one client's in a row. */
void gyre_origins_set(gyre_queue *queue, uint64_t index, uint64_t count, struct gyre_origin first);
/** The origin of request `index`, whose completion was not received yet. */
struct gyre_origin gyre_origin_of(const gyre_queue *queue, uint64_t index);

/** Wakes a relay that waits for a change of this queue: rings the device's bell, at which relays wait. */
void gyre_origins_tell(gyre_queue *queue);

/** What the server writes into the device's line of a relayed client's ring. Both counts are counts of that client's
 * requests and only grow. */
struct gyre_promises {
    uint32_t bell, reserved;
    uint64_t covered, durable; /* atomic: requests below are in a checkpoint, in the journal */
};
_Static_assert(sizeof(struct gyre_promises) <= sizeof(gyre_queue_device), "the rest of the line");

static inline struct gyre_promises *gyre_promises_of(const gyre_queue *queue)
{
    return (struct gyre_promises *)(void *)&queue->ring.shared->device;
}

#endif
