/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending: copy, publish, ring. What happens when the queue is full is decided in gyre_queue_make_room.
 *
 * Locks: producer.lock for the copy alone; never across a wait.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/stages/behaviours.h"
#include "core/ring/express.h"
#include "core/queue/lent.h"
#include "core/stages/log.h"
#include "core/stages/origin.h"
#include "core/stages/spans.h"
#include "core/queue/publish.h"

/* Messages of one line: with its payload each is complete, and a worker that waits gains nothing. */
GYRE_INLINE void put_lines(struct gyre_slots slots, uint64_t index, uint64_t end, const unsigned char *from,
                           size_t size, bool tails)
{
    for (; index != end; index++, from += size) {
        gyre_slot *slot = gyre_slot_at(slots, index);
        gyre_payload_copy(slot + 1, from, gyre_length_of(from, size, tails));
        gyre_publish(slot, index, size, tails);
    }
}

GYRE_INLINE void put_chunks(struct gyre_slots slots, uint64_t index, uint64_t end, const unsigned char *from,
                            size_t size, uint64_t chunk, bool tails)
{
    while (index != end) {
        const uint64_t first = index, stop = end - index > chunk ? index + chunk : end;
        for (; index != stop; index++, from += size)
            gyre_payload_copy(gyre_slot_at(slots, index) + 1, from, gyre_length_of(from, size, tails));
        gyre_publish_all(slots, first, stop, size, tails);
    }
}

__attribute__((noinline)) static void put_lone(gyre_queue *queue, uint64_t index, const void *request,
                                               size_t size, enum gyre_mark mark, bool tails)
{
    gyre_payload_copy(gyre_request_slot(queue, index) + 1, request, gyre_length_of(request, size, tails));
    gyre_express_publish(queue, index, size, mark == GYRE_MARK_CALL);
}

/* Notes something of the requests from `index` on; how many of the `granted` may be sent. */
__attribute__((noinline)) static uint64_t annotate(gyre_queue *queue, uint64_t index, uint64_t granted,
                                                   const void *requests, size_t size)
{
    if (queue->log)
        granted = gyre_queue_log_grant(queue, index, granted);
    gyre_queue_note_sent(queue, index, index + granted);
    if (queue->headers && queue->choice_types)
        gyre_queue_headers_name(queue, index, index + granted, requests, size);
    if (queue->spans) /* before they are sealed */
        gyre_queue_spans_sent(queue, index, index + granted, requests, size);
    if (queue->seals)
        gyre_queue_seals_sent(queue, index, index + granted, requests, size);
    return granted;
}

/* One request without a tail: what a loop over one would be, without its loops, which cost as much as the rest. */
GYRE_INLINE uint64_t put_one(gyre_queue *queue, const void *request, size_t size, enum gyre_mark mark)
{
    const uint64_t index = queue->producer.sent;
    gyre_slot *slot = gyre_request_slot(queue, index);
    if (gyre_producer_room(queue) == 0)
        queue->producer.received_seen =
            gyre_received(queue); /* acquire: the slot was read before it is reused */
    if (gyre_producer_room(queue) == 0)
        return 0;
    if (__builtin_expect(queue->annotated, 0) && annotate(queue, index, 1, request, size) == 0)
        return 0;
    if (mark != GYRE_MARK_SEND)
        gyre_mark_set_locked(queue, index, mark);
    gyre_payload_copy(slot + 1, request, size);
    if (__builtin_expect(queue->express != NULL, 0))
        gyre_express_publish(queue, index, size, mark == GYRE_MARK_CALL);
    else
        gyre_publish(slot, index, size, false);
    __atomic_store_n(&queue->producer.sent, index + 1, __ATOMIC_RELEASE); /* as in put */
    gyre_producer_note_depth(queue, index + 1);
    return 1;
}

GYRE_INLINE uint64_t put(gyre_queue *queue, const void *requests, size_t size, uint64_t count,
                         enum gyre_mark mark, bool tails)
{
    const struct gyre_slots slots = gyre_slots_of(queue);
    if (gyre_producer_room(queue) < count)
        queue->producer.received_seen =
            gyre_received(queue); /* acquire: the slots were read before they are reused */
    uint64_t granted = gyre_producer_room(queue) < count ? gyre_producer_room(queue) : count;
    uint64_t index = queue->producer.sent;
    if (__builtin_expect(queue->annotated, 0))
        granted = annotate(queue, index, granted, requests, size);
    const bool bridged = tails && gyre_requests_bridged(queue);
    if (bridged)
        granted = gyre_bridge_put(queue, requests, size, index, granted, (int)mark);
    const uint64_t end = index + granted;
    if (mark != GYRE_MARK_SEND && !bridged)
        for (uint64_t i = index; i != end; i++)
            gyre_mark_set_locked(queue, i, mark);
    if (bridged)
        ; /* published */
    else if (__builtin_expect(queue->express != NULL, 0) && granted == 1)
        put_lone(queue, index, requests, size, mark, tails);
    else if (slots.stride == GYRE_LINE_SIZE)
        put_lines(slots, index, end, requests, size, tails);
    else
        put_chunks(slots, index, end, requests, size, queue->chunk, tails);
    __atomic_store_n(&queue->producer.sent, end,
                     __ATOMIC_RELEASE); /* for those who count; the device never looks */
    gyre_producer_note_depth(queue, end);
    return granted;
}

uint64_t gyre_queue_bytes_for(const gyre_queue *queue, const void *request, size_t size)
{
    if (!gyre_requests_bridged(queue) || size < sizeof(uint32_t))
        return 0;
    return gyre_bridge_need(gyre_length_of(request, size, true));
}

GYRE_INLINE uint64_t put_with(gyre_queue *queue, const struct gyre_outgoing *requests, enum gyre_mark mark,
                              bool tails)
{
    if (requests->headers)
        queue->producer.given = requests->headers;
    const uint64_t granted = requests->count == 1 && !tails
                                 ? put_one(queue, requests->bytes, requests->size, mark)
                                 : put(queue, requests->bytes, requests->size, requests->count, mark, tails);
    if (requests->headers)
        queue->producer.given = NULL;
    return granted;
}

__attribute__((noinline)) static uint64_t put_others(gyre_queue *queue, const struct gyre_outgoing *requests,
                                                     enum gyre_mark mark)
{
    return queue->request_least ? put_with(queue, requests, mark, true)
                                : put_with(queue, requests, mark, false);
}

/* What is called mostly goes a way of its own: one with loops saves many registers before it does anything. */
uint64_t gyre_queue_put(gyre_queue *queue, const struct gyre_outgoing *requests, enum gyre_mark mark)
{
    const bool lone = requests->count == 1 && !queue->request_least && !requests->headers;
    return __builtin_expect(lone, 1) ? put_one(queue, requests->bytes, requests->size, mark)
                                     : put_others(queue, requests, mark);
}

/* Notes what is noted of the next request, if there is room for it. */
static bool grant_one(gyre_queue *queue, const struct gyre_outgoing *request)
{
    const uint64_t index = queue->producer.sent;
    if (gyre_producer_room(queue) == 0)
        queue->producer.received_seen = gyre_received(queue);
    if (gyre_producer_room(queue) == 0)
        return false;
    queue->producer.given = request->headers;
    const uint64_t granted = annotate(queue, index, 1, request->bytes, request->size);
    queue->producer.given = NULL;
    return granted != 0;
}

/* A message that has a place of its own in the ring of bytes is not copied: it counts as empty. */
uint64_t gyre_queue_put_taken_back(gyre_queue *queue, const struct gyre_outgoing *request,
                                   enum gyre_mark mark)
{
    const uint64_t index = queue->producer.sent;
    gyre_slot *slot = gyre_request_slot(queue, index);
    const uint32_t length = gyre_requests_bridged(queue)
                                ? 0
                                : gyre_length_of(request->bytes, request->size, queue->request_least != 0);
    if (!grant_one(queue, request))
        return 0;
    gyre_mark_set_locked(queue, index, mark);
    gyre_payload_copy(slot + 1, request->bytes, length);
    slot->length = length;
    if (gyre_requests_bridged(queue))
        gyre_bridge_skip(queue, index);
    if (queue->expiry)
        gyre_queue_expiry_take_back(queue, index);
    slot->length = GYRE_LENGTH_TAKEN_BACK;
    slot->info = 0;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the worker's acquire */
    __atomic_store_n(&queue->producer.sent, index + 1, __ATOMIC_RELEASE);
    gyre_producer_note_depth(queue, index + 1);
    return 1;
}

void gyre_queue_ring_doorbell(gyre_queue *queue, uint64_t count)
{
    gyre_control_region *control = queue->control;
    gyre_barrier_light(queue->light_sends); /* pairs with the worker's heavy barrier before it parks */
    if (__builtin_expect(__atomic_load_n(&control->device.parked, __ATOMIC_RELAXED) == 0, 1))
        return;
    if (queue->doorbell < 0)
        gyre_bell_ring(&control->doorbell.bell, count < INT_MAX ? (int)count : INT_MAX);
    else
        gyre_lent_ring(queue->doorbell);
}

void gyre_queue_ring_credit(gyre_queue *queue)
{
    gyre_barrier_light(queue->light_waits); /* pairs with the heavy barrier in wait.c */
    if (__builtin_expect(queue->log != NULL, 0))
        gyre_queue_log_tell_journal(
            queue); /* a sender that is held up may not have announced that it waits */
    if (__builtin_expect(__atomic_load_n(&queue->state.credit_waiters, __ATOMIC_RELAXED) == 0, 1))
        return;
    gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
    gyre_origins_tell(queue); /* a relay waits for room where it waits for all else */
}

gyre_status gyre_queue_check_tail(const gyre_queue *queue, const void *request, size_t size, size_t number)
{
    uint32_t used;
    char label[96];
    memcpy(&used, request, sizeof used);
    if (used >= queue->request_least && used <= size)
        return GYRE_OK;
    if (queue->choice_count > 0)
        return gyre_error_set(
            GYRE_INVALID,
            "%s takes several types: send one with gyre_send_as(queue, GYRE_TYPE(type), &request, "
            "sizeof request, NULL, deadline), which says what it is; request %zu is none",
            gyre_queue_label(queue, label, sizeof label), number);
    return gyre_error_set(
        GYRE_INVALID,
        "%s: request %zu says that it uses %u of %zu bytes, expected from %u on: start it with gyre_begin",
        gyre_queue_label(queue, label, sizeof label), number, used, size, queue->request_least);
}

gyre_status gyre_queue_check_requests(const gyre_queue *queue, const void *requests, size_t size,
                                      size_t count)
{
    const unsigned char *request = requests;
    gyre_status status = GYRE_OK;
    char label[96];
    if ((size != 0 && size == queue->fixed_size) || (size != 0 && size == queue->caller_request_size))
        return GYRE_OK;
    if (gyre_queue_takes_nothing(queue) && size <= sizeof(gyre_none))
        return GYRE_OK;
    if (!queue->request_least)
        return gyre_error_set(
            GYRE_INVALID, "%s takes requests of %u bytes, found one of %zu: send the kernel's request type",
            gyre_queue_label(queue, label, sizeof label), queue->request_size, size);
    if (size < queue->request_least || size > queue->request_size)
        return gyre_error_set(
            GYRE_INVALID,
            "%s takes requests of %u to %u bytes, found one of %zu: send the kernel's request type",
            gyre_queue_label(queue, label, sizeof label), queue->request_least, queue->request_size, size);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = gyre_queue_check_tail(queue, request + i * size, size, i);
    return status;
}

gyre_status gyre_queue_tell_closed(const gyre_queue *queue)
{
    char label[96];
    if (gyre_queue_refused(queue))
        return gyre_queue_tell_refused(queue);
    if (gyre_queue_gone(queue))
        return gyre_queue_tell_lost(queue);
    return gyre_error_set(GYRE_CLOSED, "%s is closed: its kernel was terminated; %s",
                          gyre_queue_label(queue, label, sizeof label),
                          queue->detach ? "attach again when it is back"
                                        : "relaunch the kernel to send again");
}

gyre_status gyre_queue_admit(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                             void **converted)
{
    if (gyre_queue_takes_nothing(queue) && requests->size <= sizeof(gyre_none)) {
        requests->bytes = ""; /* the caller's may be NULL */
        requests->size = 0;
        return GYRE_OK;
    }
    if (requests->size == queue->fixed_size || !gyre_queue_converts(queue, requests->size))
        return gyre_queue_check_requests(queue, requests->bytes, requests->size, requests->count);
    gyre_status status = gyre_queue_convert(queue, requests, deadline_ns, converted);
    requests->bytes = *converted;
    requests->size = queue->request_size;
    return status;
}

/* As send_some, which found no room or others that wait for it. */
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
            sent->count = put_with(queue, &requests, GYRE_MARK_SEND, tails);
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
    if (sent->count)
        gyre_queue_ring_doorbell(queue, sent->count);
    gyre_senders_leave(queue, &sender);
    gyre_queue_leave(queue, inside);
    return status;
}

/* Sends what there is room for, waiting while there is none; at least 1 when OK. */
GYRE_INLINE gyre_status send_some(gyre_queue *queue, struct gyre_outgoing requests, struct gyre_sent *sent,
                                  uint64_t deadline_ns, bool tails)
{
    uint64_t granted = 0;
    gyre_producer_take(queue);
    if (!gyre_queue_closed(queue) && !queue->producer.barred) {
        sent->first = queue->producer.sent;
        granted = put_with(queue, &requests, GYRE_MARK_SEND, tails);
    }
    gyre_producer_give(queue);
    if (__builtin_expect(granted == 0, 0))
        return send_in_line(queue, requests, sent, deadline_ns, tails);
    gyre_queue_ring_doorbell(queue, granted);
    sent->count = granted;
    return GYRE_OK;
}

/* What is no fixed message of the right size: bytes for a packet, one with a tail, one of a type that grew,
 * or an error. */
__attribute__((noinline)) static gyre_status send_others(gyre_queue *queue, struct gyre_outgoing requests,
                                                         struct gyre_sent *sent, uint64_t deadline_ns)
{
    if (queue->detour)
        return gyre_queue_post_batch(queue, &requests, sent, deadline_ns);
    void *converted = NULL;
    gyre_status status = gyre_queue_admit(queue, &requests, deadline_ns, &converted);
    if (status == GYRE_OK)
        status = send_some(queue, requests, sent, deadline_ns, queue->request_least != 0);
    gyre_queue_unconvert(queue, converted, sent->count, requests.count);
    free(converted);
    return status;
}

GYRE_INLINE gyre_status send_requests(gyre_queue *queue, struct gyre_outgoing requests,
                                      struct gyre_sent *sent, uint64_t deadline_ns)
{
    return gyre_queue_is_direct(queue, requests.size) ? send_some(queue, requests, sent, deadline_ns, false)
                                                      : send_others(queue, requests, sent, deadline_ns);
}

/* As send_requests; of no requests, only their size is checked. */
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

/* Headers as the queue can hold them, of each of `count` messages; NULL: there are none to check. */
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
