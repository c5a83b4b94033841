/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of other programs in a queue that keeps its requests. Checkpoints and journals need a sender that holds back
 * while they are behind, and memory that nobody else writes. Another program cannot be relied on for either, so its
 * requests are relayed (core/attach/relay.h). The origin of each is noted here for the journal, so that the next life
 * of the server knows to which client it owes a completion.
 *
 * Also here: how far such a client's requests have come, which the server tells besides their completions. It writes
 * that into the device's line of the client's ring, where the server is the device.
 */
#ifndef GYRE_CORE_QUEUE_ORIGIN_H
#define GYRE_CORE_QUEUE_ORIGIN_H

#include "core/queue/queue.h"

/** The client that sent a request. The number of a client without a name holds for one life of the server only. */
struct gyre_origin {
    uint64_t client, index; /* `client` 0: this program; `index`: the request's number at its client */
};
#define GYRE_ORIGIN_NAMED (UINT64_C(1) << 63)

/** One a slot. */
struct gyre_queue_origin {
    uint64_t request; /* index + 1 of the request with this origin */
    struct gyre_origin origin;
};

/** From now on requests of the queue may have origins. Any thread. EXHAUSTED. A queue that has them is left as it is. */
gyre_status gyre_origins_create(gyre_queue *queue);
/** Called by the sender of request `index`, before the request is there for others. */
void gyre_origin_set(gyre_queue *queue, uint64_t index, struct gyre_origin origin);
/** The origin of a request whose completion was not received. */
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
