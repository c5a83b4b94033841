/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends on queues that check or keep a message before it enters the ring (post.h): queues that remember ids, and queues with
 * levels. One message at a time.
 *
 * Lock: the producer's; never across a wait.
 */
#include "core/queue/post.h"

#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/admit.h"
#include "core/queue/bells.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/room.h"
#include "core/queue/side.h"

enum outcome { POSTED, FULL, DUPLICATE };

static gyre_status tell_duplicate(gyre_queue *queue, uint64_t id)
{
    char label[GYRE_LABEL_SIZE];
    __atomic_fetch_add(&queue->producer.duplicates, 1, __ATOMIC_RELAXED);
    return gyre_error_set(GYRE_DROPPED,
                          "%s was sent a message with id %llu already; this one is not sent again",
                          gyre_queue_label(queue, label, sizeof label), (unsigned long long)id);
}

/* Puts one request into the line or the ring, unless its id is known. Under the producer lock. */
static enum outcome request_post(gyre_queue *queue, const void *request, size_t size,
                                 const gyre_header *header, enum gyre_mark mark, uint64_t *index)
{
    uint64_t granted;
    if (queue->known && header->id && queue->known->knows(queue, header->id))
        return DUPLICATE;
    const struct gyre_outgoing one = {request, size, 1, header};
    if (queue->line) {
        granted = queue->line->push(queue, &one, mark, index);
    } else {
        *index = queue->producer.sent;
        granted = gyre_queue_put(queue, &one, mark);
    }
    if (granted && queue->known && header->id)
        queue->known->note(queue, header->id);
    return granted ? POSTED : FULL;
}

/* One try of a sender: puts the request if it is the sender's turn and there is room. */
static enum outcome request_try(gyre_queue *queue, struct gyre_sender *sender,
                                const struct gyre_outgoing *request, enum gyre_mark mark, uint64_t *index,
                                bool *is_closed)
{
    const gyre_header none = {0}, *whole = request->headers ? request->headers : &none;
    enum outcome outcome = FULL;
    gyre_producer_take(queue);
    *is_closed = gyre_queue_closed(queue);
    if (!*is_closed && gyre_senders_admit(queue, sender, 1))
        outcome = request_post(queue, request->bytes, request->size, whole, mark, index);
    if (outcome == POSTED)
        gyre_senders_passed(queue, sender);
    gyre_producer_give(queue);
    return outcome;
}

/* Ends the send of a request that was tried: tells of it, and lets the next sender have its turn. */
static gyre_status request_end(gyre_queue *queue, struct gyre_sender *sender,
                               const struct gyre_outgoing *request, uint64_t index, enum outcome outcome)
{
    if (outcome == POSTED) {
        gyre_queue_ring_doorbell(queue, 1);
        GYRE_PROBE3(sent, gyre_queue_name(queue), index, UINT64_C(1));
    }
    gyre_senders_leave(queue, sender);
    return outcome == DUPLICATE ? tell_duplicate(queue, request->headers->id) : GYRE_OK;
}

gyre_status gyre_queue_post(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                            uint64_t *index, uint64_t deadline_ns, bool *inside)
{
    struct gyre_sender sender = {0};
    gyre_status status = GYRE_OK;
    enum outcome outcome = FULL;
    while (status == GYRE_OK && outcome == FULL) {
        bool is_closed;
        outcome = request_try(queue, &sender, request, mark, index, &is_closed);
        gyre_queue_stay(queue, deadline_ns, inside);
        if (outcome != FULL)
            continue;
        const uint64_t bytes = gyre_queue_bytes_for(queue, request->bytes, request->size);
        status = is_closed ? gyre_queue_tell_closed(queue)
                           : gyre_queue_make_room(queue, &sender, bytes, deadline_ns);
    }
    const gyre_status end = request_end(queue, &sender, request, *index, outcome);
    return end == GYRE_OK ? status : end;
}

/* Sends a further request of a batch, if there is room. Without room the batch ends: nothing is dropped or counted as refused
 * for a request that the caller has not lost. */
static gyre_status post_further(gyre_queue *queue, const struct gyre_outgoing *request, bool *has_room)
{
    struct gyre_sender sender = {0};
    bool is_closed;
    uint64_t index = 0;
    const enum outcome outcome = request_try(queue, &sender, request, GYRE_MARK_SEND, &index, &is_closed);
    *has_room = outcome != FULL;
    return request_end(queue, &sender, request, index, outcome);
}

/* As in batches of other queues, only the first request waits for room. */
static gyre_status post_all(gyre_queue *queue, struct gyre_outgoing requests, struct gyre_sent *sent,
                            uint64_t deadline_ns)
{
    bool inside = false, has_room = true;
    gyre_status status =
        gyre_queue_post(queue, &requests, GYRE_MARK_SEND, &sent->first, deadline_ns, &inside);
    for (sent->count = status == GYRE_OK; status == GYRE_OK && sent->count < requests.count;) {
        requests.bytes = (const unsigned char *)requests.bytes + requests.size;
        if (requests.headers)
            requests.headers++;
        status = post_further(queue, &requests, &has_room);
        if (!has_room)
            break;
        sent->count += status == GYRE_OK;
    }
    gyre_queue_leave(queue, inside);
    return status;
}

gyre_status gyre_queue_post_batch(gyre_queue *queue, const struct gyre_outgoing *requests,
                                  struct gyre_sent *sent, uint64_t deadline_ns)
{
    struct gyre_outgoing taken = *requests;
    void *converted = NULL;
    sent->count = 0;
    gyre_status status = gyre_queue_admit(queue, &taken, deadline_ns, &converted);
    if (status == GYRE_OK)
        status = post_all(queue, taken, sent, deadline_ns);
    gyre_queue_recall(queue, converted, sent->count, taken.count);
    return status;
}
