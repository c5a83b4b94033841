/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends in place (gyre_reserve, gyre_commit): the sender builds requests in their slots, or in the ring of bytes, and then
 * publishes them.
 *
 * Locks: producer.lock while slots are granted and while requests are published. In between no lock is held; a flag keeps
 * other senders off.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/probe.h"
#include "core/queue/bells.h"
#include "core/queue/check.h"
#include "core/queue/convert.h"
#include "core/queue/label.h"
#include "core/queue/put.h"
#include "core/queue/room.h"
#include "core/queue/side.h"

/* Clears the headers of reserved requests, because the sender has given no header yet. */
static void headers_clear(const struct gyre_ring *ring, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; ring->headers && index != end; index++)
        memset(gyre_header_at(ring, index), 0, ring->slots.header_size);
}

/*
 * Opens a reservation of slots that lie together in memory, `size` bytes for each request; 0 when there is no room or
 * another reservation is open.
 */
static uint64_t try_reserve(gyre_queue *queue, struct gyre_sender *sender, size_t size, uint64_t wanted,
                            bool *is_closed)
{
    uint64_t granted = 0;
    gyre_producer_take(queue);
    *is_closed = gyre_queue_closed(queue);
    wanted = gyre_senders_admit(queue, sender, wanted);
    if (!*is_closed && wanted) {
        queue->producer.received_seen = gyre_received(queue);
        uint64_t together = queue->ring.capacity - (queue->producer.sent & queue->ring.mask);
        granted = gyre_producer_room(queue) < wanted ? gyre_producer_room(queue) : wanted;
        granted = together < granted ? together : granted;
        granted = gyre_queue_grant(queue, queue->producer.sent, granted);
        if (gyre_requests_bridged(&queue->ring))
            granted = gyre_bytes_reserve(&queue->ring, size, granted, queue->producer.sent);
        queue->producer.reserved_size = size;
        queue->producer.reserved = granted;
        gyre_barred_set(queue, GYRE_BARRED_RESERVING, granted > 0);
        if (granted)
            gyre_senders_passed(queue, sender);
        headers_clear(&queue->ring, queue->producer.sent, queue->producer.sent + granted);
    }
    gyre_producer_give(queue);
    return granted;
}

/* The payload of a request in the open reservation. */
static unsigned char *reserved_at(const gyre_queue *queue, uint64_t number)
{
    if (gyre_requests_bridged(&queue->ring))
        return gyre_bytes_reserved(queue->ring.bytes, number);
    return (unsigned char *)(gyre_request_slot(&queue->ring, queue->producer.sent + number) + 1);
}

/* INVALID when requests of this queue need steps before the ring (ids, levels, conversion), because a request that is built in
 * the ring cannot take them. */
static gyre_status check_in_place(const gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE];
    if (queue->ways.detour)
        return gyre_error_set(
            GYRE_INVALID,
            "%s has levels or looks for duplicates, so requests are not built in place; use gyre_send",
            gyre_queue_label(queue, label, sizeof label));
    if (queue->forms.request_growth.callers)
        return gyre_error_set(
            GYRE_INVALID,
            "a request that is built in place has the kernel's type, which differs from the caller's type '%s': "
            "use gyre_send",
            queue->forms.request_growth.callers->name);
    if (queue->forms.caller_request_size > queue->ring.request_size)
        return gyre_error_set(GYRE_INVALID,
                              "the caller's request type has %u bytes and a slot %u: "
                              "the kernel knows an older type; use gyre_send",
                              queue->forms.caller_request_size, queue->ring.request_size);
    return GYRE_OK;
}

/* Reserves up to *count requests of `size` bytes. Waits while there is no room for one request. */
static gyre_status requests_reserve(gyre_queue *queue, size_t size, void **requests, size_t *count,
                                    uint64_t deadline_ns)
{
    gyre_status status = check_in_place(queue);
    struct gyre_sender sender = {0};
    bool is_closed = false, inside = false;
    const uint64_t bytes = gyre_requests_bridged(&queue->ring) ? GYRE_BRIDGE_UNITS(size) : 0;
    while (status == GYRE_OK) {
        uint64_t granted = try_reserve(queue, &sender, size, *count, &is_closed);
        if (granted) {
            *requests = reserved_at(queue, 0);
            *count = (size_t)granted;
            break;
        }
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = is_closed ? gyre_queue_tell_closed(queue)
                           : gyre_queue_make_room(queue, &sender, bytes, deadline_ns);
    }
    gyre_senders_leave(queue, &sender);
    gyre_queue_leave(queue, inside);
    return status;
}

gyre_status gyre_reserve_sized(gyre_queue *queue, size_t size, void **request, uint64_t deadline_ns)
{
    size_t count = 1;
    if (!queue || !request)
        return GYRE_ARGUMENTS("gyre_reserve_sized", {"queue", queue}, {"request", request});
    const size_t least = queue->ring.request_least ? queue->ring.request_least : queue->ring.request_size;
    if (size < least || size > queue->ring.request_size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_reserve_sized: the queue's requests have %zu to %u bytes, found %zu",
                              least, queue->ring.request_size, size);
    return requests_reserve(queue, size, request, &count, deadline_ns);
}

gyre_status gyre_reserve(gyre_queue *queue, void **requests, size_t *stride, size_t *count,
                         uint64_t deadline_ns)
{
    if (!queue || !requests || !stride || !count)
        return GYRE_ARGUMENTS("gyre_reserve", {"queue", queue}, {"requests", requests}, {"stride", stride},
                              {"count", count});
    if (*count == 0)
        return gyre_error_set(GYRE_INVALID, "gyre_reserve: '*count' is 0: reserve one request at least");
    *stride = gyre_requests_bridged(&queue->ring) ? GYRE_BRIDGE_UNITS(queue->ring.request_size)
                                                  : queue->ring.slots.request_stride;
    return requests_reserve(queue, queue->ring.request_size, requests, count, deadline_ns);
}

/* The bytes from one reserved request to the next. */
static size_t reserved_stride(const gyre_queue *queue)
{
    return gyre_requests_bridged(&queue->ring) ? (size_t)queue->ring.bytes->producer.reserved_each
                                               : queue->ring.slots.request_stride;
}

/* How many of the first `count` reserved requests, up to the first wrong one, have a valid length in their first word. */
static size_t count_lengths(const gyre_queue *queue, size_t count)
{
    const unsigned char *request = reserved_at(queue, 0);
    const size_t stride = reserved_stride(queue);
    const uint32_t least = queue->ring.request_least, more = (uint32_t)queue->producer.reserved_size - least;
    size_t right = 0;
    uint32_t used;
    for (; right < count; right++, request += stride) {
        memcpy(&used, request, sizeof used);
        if (used - least > more)
            break;
    }
    return right;
}

/* Checks the reserved requests that are to be published. Sets fields to zero that only the kernel's type has. */
static gyre_status check_reserved(const gyre_queue *queue, size_t count)
{
    uint32_t known = queue->forms.caller_request_size;
    for (size_t i = 0; known && i < count; i++)
        memset(reserved_at(queue, i) + known, 0, queue->ring.request_size - known);
    if (!queue->ring.request_least)
        return GYRE_OK;
    const size_t right = count_lengths(queue, count);
    if (right < count)
        return gyre_queue_check_tail(queue, reserved_at(queue, right), queue->producer.reserved_size, right);
    if (__builtin_expect(gyre_queue_settles(queue), 0))
        for (size_t i = 0; i < count; i++)
            gyre_queue_settle(queue, reserved_at(queue, i));
    return GYRE_OK;
}

/* Publishes the first `count` reserved requests and ends the reservation. */
static void publish_reserved(gyre_queue *queue, uint64_t count)
{
    const uint64_t index = queue->producer.sent, end = index + count;
    gyre_producer_announce(queue, end);
    (void)GYRE_FAULT_POINT(RING_COMMIT);
    if (__builtin_expect(gyre_stages_note_some(&queue->stages, index, end), 0)) {
        const struct gyre_sending sending = {.first = index,
                                             .end = end,
                                             .requests = reserved_at(queue, 0),
                                             .stride = reserved_stride(queue),
                                             .in_place = true};
        gyre_queue_note_sent(queue, &sending);
    }
    if (gyre_requests_bridged(&queue->ring))
        gyre_bytes_commit(&queue->ring, index, end);
    else if (queue->ring.express && count == 1)
        gyre_express_publish(&queue->ring, index, queue->ring.request_size, false);
    else if (queue->ring.request_least)
        gyre_publish_all(gyre_slots_of(&queue->ring), index, end, queue->ring.request_size, true);
    else
        gyre_publish_all(gyre_slots_of(&queue->ring), index, end, queue->ring.request_size, false);
    __atomic_store_n(&queue->producer.sent, end, __ATOMIC_RELEASE);
    gyre_producer_note_depth(queue, end);
    if (index != end)
        GYRE_PROBE3(sent, gyre_queue_name(queue), index, end - index);
    queue->producer.reserved = 0;
    gyre_barred_set(queue, GYRE_BARRED_RESERVING, false);
}

static gyre_status tell_uncovered(const gyre_queue *queue, size_t count)
{
    char label[GYRE_LABEL_SIZE];
    const uint64_t reserved = gyre_is_reserving(queue) ? queue->producer.reserved : 0;
    return gyre_error_set(GYRE_INVALID, "%s has %llu reserved requests, asked to commit %zu",
                          gyre_queue_label(queue, label, sizeof label), (unsigned long long)reserved, count);
}

gyre_status gyre_commit(gyre_queue *queue, size_t count)
{
    gyre_status status;
    if (!queue)
        return gyre_error_set(GYRE_INVALID, "gyre_commit needs a queue");
    gyre_producer_take(queue);
    const bool is_closed = gyre_queue_closed(queue);
    if (!gyre_is_reserving(queue) || count > queue->producer.reserved)
        status = tell_uncovered(queue, count);
    else if ((status = check_reserved(queue, count)) == GYRE_OK)
        publish_reserved(queue, is_closed ? 0 : count);
    gyre_producer_give(queue);
    if (status != GYRE_OK)
        return status;
    gyre_queue_ring_credit(queue);
    if (is_closed && count)
        return gyre_queue_tell_closed(queue);
    gyre_queue_ring_doorbell(queue, count);
    return GYRE_OK;
}

gyre_status gyre_reserve_header(gyre_queue *queue, size_t number, const gyre_header *header)
{
    gyre_status status;
    char label[GYRE_LABEL_SIZE];
    if (!queue || !header)
        return GYRE_ARGUMENTS("gyre_reserve_header", {"queue", queue}, {"header", header});
    status = gyre_queue_check_header(queue, header);
    if (status != GYRE_OK || !queue->ring.headers)
        return status;
    gyre_producer_take(queue);
    if (gyre_is_reserving(queue) && number < queue->producer.reserved)
        memcpy(gyre_header_at(&queue->ring, queue->producer.sent + number), header,
               queue->ring.slots.header_size);
    else
        status = gyre_error_set(
            GYRE_INVALID, "%s has %llu reserved requests, asked for the header of number %zu",
            gyre_queue_label(queue, label, sizeof label),
            (unsigned long long)(gyre_is_reserving(queue) ? queue->producer.reserved : 0), number);
    gyre_producer_give(queue);
    return status;
}
