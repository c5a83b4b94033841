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

gyre_status gyre_queue_post(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                            uint64_t *index, uint64_t deadline_ns, bool *inside)
{
    const gyre_header none = {0}, *whole = request->headers ? request->headers : &none;
    const size_t size = request->size;
    struct gyre_sender sender = {0};
    gyre_status status = GYRE_OK;
    enum outcome outcome = FULL;
    while (status == GYRE_OK && outcome == FULL) {
        gyre_producer_take(queue);
        const bool is_closed = gyre_queue_closed(queue);
        if (!is_closed && gyre_senders_admit(queue, &sender, 1))
            outcome = request_post(queue, request->bytes, size, whole, mark, index);
        if (outcome == POSTED)
            gyre_senders_passed(queue, &sender);
        gyre_producer_give(queue);
        gyre_queue_stay(queue, deadline_ns, inside);
        if (outcome != FULL)
            continue;
        const uint64_t bytes = gyre_queue_bytes_for(queue, request->bytes, size);
        status = is_closed ? gyre_queue_tell_closed(queue)
                           : gyre_queue_make_room(queue, &sender, bytes, deadline_ns);
    }
    if (outcome == POSTED) {
        gyre_queue_ring_doorbell(queue, 1);
        GYRE_PROBE3(sent, gyre_queue_name(queue), *index, UINT64_C(1));
    }
    gyre_senders_leave(queue, &sender);
    return outcome == DUPLICATE ? tell_duplicate(queue, whole->id) : status;
}

static gyre_status post_all(gyre_queue *queue, struct gyre_outgoing requests, struct gyre_sent *sent,
                            uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    bool inside = false;
    for (sent->count = 0; status == GYRE_OK && sent->count < requests.count;
         sent->count += status == GYRE_OK) {
        uint64_t index = 0;
        /* as in batches of other queues, only the first request waits for room */
        status = gyre_queue_post(queue, &requests, GYRE_MARK_SEND, &index,
                                 sent->count ? GYRE_NO_WAIT : deadline_ns, &inside);
        if (sent->count == 0)
            sent->first = index;
        requests.bytes = (const unsigned char *)requests.bytes + requests.size;
        if (requests.headers)
            requests.headers++;
    }
    gyre_queue_leave(queue, inside);
    return sent->count && status == GYRE_AGAIN ? GYRE_OK : status;
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
