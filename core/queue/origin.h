/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of other programs in a queue that keeps what is sent: checkpoints and journals work by the sender
 * holding back where they are behind, and by memory that nobody else writes, neither of which can be asked of
 * another program. So its requests are relayed (core/attach/relay.h), and here is noted whose they are, for
 * the journal: the next life of the server knows to whom it owes a completion.
 *
 * Also what the server tells such a client of its requests besides their completions: in the line of the ring
 * that belongs to the device, which the server is there.
 */
#ifndef GYRE_CORE_QUEUE_ORIGIN_H
#define GYRE_CORE_QUEUE_ORIGIN_H

#include "core/queue/queue.h"

/** Whose a request is. Numbers of clients without a name are of one life of the server alone. */
struct gyre_origin {
    uint64_t client, index; /* 0: this program's own; else the number that it has there */
};
#define GYRE_ORIGIN_NAMED (UINT64_C(1) << 63)

/** One a slot. */
struct gyre_queue_origin {
    uint64_t request; /* index + 1 of the request that it is of */
    struct gyre_origin origin;
};

/** From now on requests of the queue may have origins. Any thread. EXHAUSTED. A queue that has them is left as it is. */
gyre_status gyre_origins_create(gyre_queue *queue);
/** By whoever sends request `index`, before it is there for others. */
void gyre_origin_set(gyre_queue *queue, uint64_t index, struct gyre_origin origin);
/** Of a request whose completion was not received. */
struct gyre_origin gyre_origin_of(const gyre_queue *queue, uint64_t index);

/** Something changed that a relay may wait for: rings the device's bell, at which it waits. */
void gyre_origins_tell(gyre_queue *queue);

/** The device's line of a relayed client's ring. Both counts are of the client's requests, and only grow. */
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
