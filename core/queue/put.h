/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts requests into the ring by copy, as far as there is room. The functions are inline, because a call between a send and
 * its copy costs as much as the copy. reserve.c sends in place; post.h sends where messages pass a line first.
 *
 * All functions run under the producer lock.
 */
#ifndef GYRE_CORE_QUEUE_PUT_H
#define GYRE_CORE_QUEUE_PUT_H

#include "core/queue/mark.h"
#include "core/queue/side.h"
#include "core/ring/publish.h"
#include "core/ring/ring_message.h"

/** Requests that a caller sends, `size` bytes apart, and their headers (NULL: none). */
struct gyre_outgoing {
    const void *bytes;
    size_t size;
    uint64_t count;
    const gyre_header *headers;
};

/** The requests that a send has sent: indices [first, first + count). */
struct gyre_sent {
    uint64_t first, count;
};

/**
 * Puts requests and their headers into the ring unchanged, as far as there is room; returns how many. If requests have tails,
 * only the bytes in use are copied.
 */
uint64_t gyre_queue_put(gyre_queue *queue, const struct gyre_outgoing *requests, enum gyre_mark mark);

/**
 * Puts requests of equal size that lie in the slots `from` of another ring, from request `first` of that ring on; the `bytes`
 * of *requests are not used. Each payload is read once, so another program may change it meanwhile. Only for a queue without
 * tails, whose stages do not look at payloads.
 */
uint64_t gyre_queue_put_slots(gyre_queue *queue, struct gyre_slots from, uint64_t first,
                              const struct gyre_outgoing *requests, enum gyre_mark mark);

/** Puts a request into the ring that is already taken back, so that the device refuses it; without its bytes, if they do not lie in
 * its slot. Calls `before`, which takes it back, before the request is published, while its slot holds the request's true length. */
uint64_t gyre_queue_put_taken_back(gyre_queue *queue, const struct gyre_outgoing *request,
                                   enum gyre_mark mark, void (*before)(gyre_queue *queue, uint64_t index));

/** How many of the `wanted` requests from `index` on may be sent now, according to the stages (options of the queue,
 * stage.h). */
uint64_t gyre_queue_grant(gyre_queue *queue, uint64_t index, uint64_t wanted);
/** Lets the stages note requests that are about to be published. */
void gyre_queue_note_sent(gyre_queue *queue, const struct gyre_sending *sending);
/**
 * Asks the stages how many of `count` requests from `index` on may be sent, lets the stages note these requests, and returns
 * their number. The requests lie `stride` bytes apart. Needed only where gyre_stages_note or gyre_stages_note_some says so.
 */
uint64_t gyre_queue_note_sending(gyre_queue *queue, uint64_t index, uint64_t count, const void *requests,
                                 size_t stride);

/* ---- for the paths of messages ---- */

/** Puts one request into its slot and into the express lines (a copy of a lone request beside its slot). */
void gyre_queue_put_lone(gyre_queue *queue, uint64_t index, const void *request, size_t size,
                         enum gyre_mark mark, bool tails);
/** Puts requests into the ring of bytes (stored back to back); returns how many found room. */
uint64_t gyre_queue_put_bytes(gyre_queue *queue, const unsigned char *from, size_t size, uint64_t index,
                              uint64_t most, enum gyre_mark mark);

/* Puts messages whose slots are one cache line each. Each is published at once, because the sequence lies in the same line
 * as the payload. */
GYRE_INLINE void gyre_put_lines(struct gyre_slots slots, uint64_t index, uint64_t end,
                                const unsigned char *from, size_t size, bool tails)
{
    for (; index != end; index++, from += size) {
        gyre_slot *slot = gyre_slot_at(slots, index);
        gyre_payload_copy(slot + 1, from, gyre_length_of(from, size, tails));
        gyre_publish(slot, index, size, tails);
    }
}

GYRE_INLINE void gyre_put_chunks(struct gyre_slots slots, uint64_t index, uint64_t end,
                                 const unsigned char *from, size_t size, uint64_t chunk, bool tails)
{
    while (index != end) {
        const uint64_t first = index, stop = end - index > chunk ? index + chunk : end;
        for (; index != stop; index++, from += size)
            gyre_payload_copy(gyre_slot_at(slots, index) + 1, from, gyre_length_of(from, size, tails));
        gyre_publish_all(slots, first, stop, size, tails);
    }
}

/* Puts one request without a tail. Does what gyre_put_many does for one request, without the loops, which would cost as much
 * as the rest. */
GYRE_INLINE uint64_t gyre_put_one(gyre_queue *queue, const void *request, size_t size, enum gyre_mark mark)
{
    const uint64_t index = queue->producer.sent;
    gyre_slot *slot = gyre_request_slot(&queue->ring, index);
    if (gyre_producer_room(queue) == 0)
        queue->producer.received_seen =
            gyre_received(queue); /* acquire: the slot was read before it is reused */
    if (gyre_producer_room(queue) == 0)
        return 0;
    if (__builtin_expect(gyre_stages_note(&queue->stages, index), 0) &&
        gyre_queue_note_sending(queue, index, 1, request, size) == 0)
        return 0;
    if (mark != GYRE_MARK_SEND)
        gyre_mark_set_locked(queue, index, mark);
    gyre_producer_announce(queue, index + 1);
    gyre_payload_copy(slot + 1, request, size);
    if (__builtin_expect(queue->ring.express != NULL, 0))
        gyre_express_publish(&queue->ring, index, size, mark == GYRE_MARK_CALL);
    else
        gyre_publish(slot, index, size, false);
    __atomic_store_n(&queue->producer.sent, index + 1, __ATOMIC_RELEASE); /* as in gyre_put_many */
    gyre_producer_note_depth(queue, index + 1);
    return 1;
}

GYRE_INLINE uint64_t gyre_put_many(gyre_queue *queue, const void *requests, size_t size, uint64_t count,
                                   enum gyre_mark mark, bool tails)
{
    const struct gyre_slots slots = gyre_slots_of(&queue->ring);
    if (gyre_producer_room(queue) < count)
        queue->producer.received_seen =
            gyre_received(queue); /* acquire: the slots were read before they are reused */
    uint64_t granted = gyre_producer_room(queue) < count ? gyre_producer_room(queue) : count;
    uint64_t index = queue->producer.sent;
    if (__builtin_expect(gyre_stages_note_some(&queue->stages, index, index + granted), 0))
        granted = gyre_queue_note_sending(queue, index, granted, requests, size);
    const bool bridged = tails && gyre_requests_bridged(&queue->ring);
    gyre_producer_announce(queue, index + granted);
    if (bridged)
        granted = gyre_queue_put_bytes(queue, requests, size, index, granted, mark);
    const uint64_t end = index + granted;
    if (mark != GYRE_MARK_SEND && !bridged)
        for (uint64_t i = index; i != end; i++)
            gyre_mark_set_locked(queue, i, mark);
    if (bridged)
        ; /* published */
    else if (__builtin_expect(queue->ring.express != NULL, 0) && granted == 1)
        gyre_queue_put_lone(queue, index, requests, size, mark, tails);
    else if (slots.stride == GYRE_LINE_SIZE)
        gyre_put_lines(slots, index, end, requests, size, tails);
    else
        gyre_put_chunks(slots, index, end, requests, size, queue->ways.chunk, tails);
    __atomic_store_n(&queue->producer.sent, end,
                     __ATOMIC_RELEASE); /* for readers of statistics; the device never looks */
    gyre_producer_note_depth(queue, end);
    return granted;
}

GYRE_INLINE uint64_t gyre_put_with(gyre_queue *queue, const struct gyre_outgoing *requests,
                                   enum gyre_mark mark, bool tails)
{
    if (requests->headers)
        queue->producer.given = requests->headers;
    const uint64_t granted =
        requests->count == 1 && !tails
            ? gyre_put_one(queue, requests->bytes, requests->size, mark)
            : gyre_put_many(queue, requests->bytes, requests->size, requests->count, mark, tails);
    if (requests->headers)
        queue->producer.given = NULL;
    return granted;
}

#endif
