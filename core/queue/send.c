/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends requests by copy (gyre_send and its kin): copies them into the ring, publishes them, rings the doorbell.
 * gyre_queue_make_room (room.h) decides what happens when the queue is full.
 *
 * Locks: producer.lock for the copy alone; never across a wait.
 */
#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/admit.h"
#include "core/queue/bells.h"
#include "core/queue/check.h"
#include "core/queue/label.h"
#include "core/queue/post.h"
#include "core/queue/put.h"
#include "core/queue/room.h"
#include "core/queue/side.h"

/* As send_some, when there was no room, or other senders wait for room. */
__attribute__((noinline)) static gyre_status send_in_line(gyre_queue *queue, struct gyre_outgoing requests,
                                                          struct gyre_sent *sent, uint64_t deadline_ns,
                                                          bool tails)
{
    const uint64_t wanted = requests.count;
    struct gyre_sender sender = {0};
    gyre_status status = GYRE_OK;
    bool inside = false;
    while (status == GYRE_OK) {
        gyre_queue_stay(queue, deadline_ns, &inside);
        gyre_producer_take(queue);
        bool is_closed = gyre_queue_closed(queue);
        requests.count = gyre_senders_admit(queue, &sender, wanted);
        if (!is_closed && requests.count) {
            sent->first = queue->producer.sent;
            sent->count = gyre_put_with(queue, &requests, GYRE_MARK_SEND, tails);
        }
        if (sent->count)
            gyre_senders_passed(queue, &sender);
        gyre_producer_give(queue);
        if (sent->count)
            break;
        const uint64_t bytes = tails ? gyre_queue_bytes_for(queue, requests.bytes, requests.size) : 0;
        status = is_closed ? gyre_queue_tell_closed(queue)
                           : gyre_queue_make_room(queue, &sender, bytes, deadline_ns);
    }
    if (sent->count) {
        gyre_queue_ring_doorbell(queue, sent->count);
        GYRE_PROBE3(sent, gyre_queue_name(queue), sent->first, sent->count);
    }
    gyre_senders_leave(queue, &sender);
    gyre_queue_leave(queue, inside);
    return status;
}

/* Sends as many requests as there is room for, and waits while there is none; at least 1 when OK. */
GYRE_INLINE gyre_status send_some(gyre_queue *queue, struct gyre_outgoing requests, struct gyre_sent *sent,
                                  uint64_t deadline_ns, bool tails)
{
    uint64_t granted = 0;
    gyre_producer_take(queue);
    if (!gyre_queue_closed(queue) && !queue->producer.barred) {
        sent->first = queue->producer.sent;
        granted = gyre_put_with(queue, &requests, GYRE_MARK_SEND, tails);
    }
    gyre_producer_give(queue);
    if (__builtin_expect(granted == 0, 0))
        return send_in_line(queue, requests, sent, deadline_ns, tails);
    gyre_queue_ring_doorbell(queue, granted);
    GYRE_PROBE3(sent, gyre_queue_name(queue), sent->first, granted);
    sent->count = granted;
    return GYRE_OK;
}

/* Sends requests that do not simply have the one fixed size: bytes for a packet, requests with tails, requests of a type that
 * has fields appended. Refuses requests of a wrong size. */
__attribute__((noinline)) static gyre_status send_others(gyre_queue *queue, struct gyre_outgoing requests,
                                                         struct gyre_sent *sent, uint64_t deadline_ns)
{
    if (queue->ways.detour)
        return gyre_queue_post_batch(queue, &requests, sent, deadline_ns);
    void *converted = NULL;
    gyre_status status = gyre_queue_admit(queue, &requests, deadline_ns, &converted);
    if (status == GYRE_OK)
        status = send_some(queue, requests, sent, deadline_ns, queue->ring.request_least != 0);
    gyre_queue_recall(queue, converted, sent->count, requests.count);
    return status;
}

GYRE_INLINE gyre_status send_requests(gyre_queue *queue, struct gyre_outgoing requests,
                                      struct gyre_sent *sent, uint64_t deadline_ns)
{
    return gyre_queue_is_direct(queue, requests.size) ? send_some(queue, requests, sent, deadline_ns, false)
                                                      : send_others(queue, requests, sent, deadline_ns);
}

/* As send_requests; when there are no requests, only their size is checked. */
GYRE_INLINE gyre_status send_batch(gyre_queue *queue, struct gyre_outgoing requests, size_t *sent,
                                   uint64_t deadline_ns)
{
    struct gyre_sent granted = {0, 0};
    gyre_status status = GYRE_OK;
    if (requests.count)
        status = send_requests(queue, requests, &granted, deadline_ns);
    else if (!gyre_queue_converts(queue, requests.size))
        status = gyre_queue_check_requests(queue, requests.bytes, requests.size, 0);
    *sent = (size_t)granted.count;
    return status;
}

/* INVALID unless the queue's headers can hold the header of each of `count` messages. NULL: there is no header to check. */
static gyre_status check_headers(const gyre_queue *queue, const gyre_header *headers, size_t count)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; headers && status == GYRE_OK && i < count; i++)
        status = gyre_queue_check_header(queue, &headers[i]);
    return status;
}

gyre_status gyre_send_with(gyre_queue *queue, const void *request, size_t size, const gyre_header *header,
                           uint64_t *index, uint64_t deadline_ns)
{
    const struct gyre_outgoing one = {request, size, 1, header};
    struct gyre_sent sent = {0, 0};
    if (!queue || (!request && !gyre_queue_takes_nothing(queue)))
        return GYRE_ARGUMENTS("gyre_send_with", {"queue", queue}, {"request", request});
    gyre_status status = check_headers(queue, header, 1);
    if (status == GYRE_OK)
        status = send_requests(queue, one, &sent, deadline_ns);
    if (index)
        *index = sent.first;
    return status;
}

gyre_status gyre_send_batch_with(gyre_queue *queue, const void *requests, size_t size,
                                 const gyre_header *headers, size_t count, size_t *sent, uint64_t deadline_ns)
{
    const struct gyre_outgoing all = {requests, size, count, headers};
    if (!queue || !sent || (!requests && count && !gyre_queue_takes_nothing(queue)))
        return gyre_error_set(GYRE_INVALID,
                              "gyre_send_batch_with needs a queue, requests and a place for the number sent");
    *sent = 0;
    gyre_status status = check_headers(queue, headers, count);
    return status == GYRE_OK ? send_batch(queue, all, sent, deadline_ns) : status;
}

gyre_status gyre_send(gyre_queue *queue, const void *request, size_t size, uint64_t *index,
                      uint64_t deadline_ns)
{
    const struct gyre_outgoing one = {request, size, 1, NULL};
    struct gyre_sent sent = {0, 0};
    if (!queue || (!request && !gyre_queue_takes_nothing(queue)))
        return GYRE_ARGUMENTS("gyre_send", {"queue", queue}, {"request", request});
    gyre_status status = send_requests(queue, one, &sent, deadline_ns);
    if (index)
        *index = sent.first;
    return status;
}

gyre_status gyre_send_batch(gyre_queue *queue, const void *requests, size_t size, size_t count, size_t *sent,
                            uint64_t deadline_ns)
{
    const struct gyre_outgoing all = {requests, size, count, NULL};
    if (!queue || !sent || (!requests && count && !gyre_queue_takes_nothing(queue)))
        return gyre_error_set(GYRE_INVALID,
                              "gyre_send_batch needs a queue, requests and a place for the number sent");
    *sent = 0;
    return send_batch(queue, all, sent, deadline_ns);
}
