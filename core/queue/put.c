/* SPDX-License-Identifier: Apache-2.0 */
/* Puts requests into the ring by copy (put.h). Lock: the producer's. */
#include "core/queue/put.h"

#include "core/queue/stage.h"

void gyre_queue_put_lone(gyre_queue *queue, uint64_t index, const void *request, size_t size,
                         enum gyre_mark mark, bool tails)
{
    gyre_payload_copy(gyre_request_slot(&queue->ring, index) + 1, request,
                      gyre_length_of(request, size, tails));
    gyre_express_publish(&queue->ring, index, size, mark == GYRE_MARK_CALL);
}

uint64_t gyre_queue_put_bytes(gyre_queue *queue, const unsigned char *from, size_t size, uint64_t index,
                              uint64_t most, enum gyre_mark mark)
{
    const uint64_t begin = index, end = index + most;
    while (index != end) {
        const uint64_t first = index;
        index = gyre_bytes_fill(&queue->ring, from + (first - begin) * size, size, first, end);
        if (index == first)
            break;
        for (uint64_t i = first; mark != GYRE_MARK_SEND && i != index; i++)
            gyre_mark_set_locked(queue, i, mark);
        gyre_bytes_publish(&queue->ring, first, index);
    }
    return index - begin;
}

uint64_t gyre_queue_grant(gyre_queue *queue, uint64_t index, uint64_t wanted)
{
    for (size_t i = 0; queue->stages.grant[i]; i++)
        wanted = queue->stages.grant[i](queue, index, wanted);
    return wanted;
}

void gyre_queue_note_sent(gyre_queue *queue, const struct gyre_sending *sending)
{
    for (size_t i = 0; queue->stages.sent[i]; i++)
        queue->stages.sent[i](queue, sending);
}

uint64_t gyre_queue_note_sending(gyre_queue *queue, uint64_t index, uint64_t count, const void *requests,
                                 size_t stride)
{
    const uint64_t granted = gyre_queue_grant(queue, index, count);
    const struct gyre_sending sending = {.first = index,
                                         .end = index + granted,
                                         .requests = requests,
                                         .stride = stride,
                                         .given = queue->producer.given};
    gyre_queue_note_sent(queue, &sending);
    return granted;
}

__attribute__((noinline)) static uint64_t put_others(gyre_queue *queue, const struct gyre_outgoing *requests,
                                                     enum gyre_mark mark)
{
    return queue->ring.request_least ? gyre_put_with(queue, requests, mark, true)
                                     : gyre_put_with(queue, requests, mark, false);
}

/* The commonest case, one request without a tail, is tested first and handled without loops, because a function with loops
 * saves many registers before it does anything. */
uint64_t gyre_queue_put(gyre_queue *queue, const struct gyre_outgoing *requests, enum gyre_mark mark)
{
    const bool lone = requests->count == 1 && !queue->ring.request_least && !requests->headers;
    return __builtin_expect(lone, 1) ? gyre_put_one(queue, requests->bytes, requests->size, mark)
                                     : put_others(queue, requests, mark);
}

uint64_t gyre_queue_put_slots(gyre_queue *queue, struct gyre_slots from, uint64_t first,
                              const struct gyre_outgoing *requests, enum gyre_mark mark)
{
    const struct gyre_slots to = gyre_slots_of(&queue->ring);
    const uint64_t index = queue->producer.sent;
    const bool lines = to.stride == GYRE_LINE_SIZE;
    queue->producer.received_seen = gyre_received(queue);
    uint64_t granted =
        gyre_producer_room(queue) < requests->count ? gyre_producer_room(queue) : requests->count;
    if (gyre_stages_note_some(&queue->stages, index, index + granted)) {
        queue->producer.given = requests->headers;
        granted = gyre_queue_note_sending(queue, index, granted, NULL, 0);
        queue->producer.given = NULL;
    }
    const uint64_t end = index + granted;
    gyre_producer_announce(queue, end);
    for (uint64_t at = index; at != end; at++) {
        gyre_slot *slot = gyre_slot_at(to, at);
        gyre_mark_set_locked(queue, at, mark);
        gyre_payload_copy(slot + 1, gyre_slot_at(from, first + (at - index)) + 1, requests->size);
        if (lines)
            gyre_publish(slot, at, requests->size, false);
    }
    if (!lines)
        gyre_publish_all(to, index, end, requests->size, false);
    __atomic_store_n(&queue->producer.sent, end, __ATOMIC_RELEASE); /* as in gyre_put_many */
    gyre_producer_note_depth(queue, end);
    return granted;
}

/* Lets the stages note the next request, if there is room for it. */
static bool grant_one(gyre_queue *queue, const struct gyre_outgoing *request)
{
    const uint64_t index = queue->producer.sent;
    if (gyre_producer_room(queue) == 0)
        queue->producer.received_seen = gyre_received(queue);
    if (gyre_producer_room(queue) == 0)
        return false;
    queue->producer.given = request->headers;
    const uint64_t granted = gyre_queue_note_sending(queue, index, 1, request->bytes, request->size);
    queue->producer.given = NULL;
    return granted != 0;
}

/* In a bridged queue (messages stored back to back) the message is not copied and counts as empty. */
uint64_t gyre_queue_put_taken_back(gyre_queue *queue, const struct gyre_outgoing *request,
                                   enum gyre_mark mark, void (*before)(gyre_queue *queue, uint64_t index))
{
    const uint64_t index = queue->producer.sent;
    gyre_slot *slot = gyre_request_slot(&queue->ring, index);
    uint32_t length = gyre_length_of(request->bytes, request->size, queue->ring.request_least != 0);
    if (gyre_requests_bridged(&queue->ring) && length > GYRE_SLOT_SMALL_PAYLOAD)
        length = 0;
    if (!grant_one(queue, request))
        return 0;
    gyre_mark_set_locked(queue, index, mark);
    gyre_producer_announce(queue, index + 1);
    gyre_payload_copy(slot + 1, request->bytes, length);
    slot->length = length;
    if (gyre_requests_bridged(&queue->ring))
        gyre_bytes_skip(&queue->ring, index);
    before(queue, index);
    slot->length = gyre_length_taken_back(length);
    slot->info = 0;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the worker's acquire */
    __atomic_store_n(&queue->producer.sent, index + 1, __ATOMIC_RELEASE);
    gyre_producer_note_depth(queue, index + 1);
    return 1;
}
