/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes back each request that no handler took up by its deadline.
 *
 * Taking back needs no help of the device. The host overwrites the request's length with a length that no message has
 * (gyre_length_taken_back), so the device fails the request. The host remembers which requests it took back, and rewrites their
 * failures as expired. If a handler was quicker, the handler's own completion stands.
 *
 * Lock: the producer lock, so no sender gives a slot to another message while this file looks at the slot.
 */
#include "core/stages/expiry.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/queue/put.h"
#include "core/queue/side.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/ring/ring_message.h"
#include "core/stages/order.h"

struct gyre_queue_expiry {
    uint64_t ttl_ns;
    uint64_t used_end; /* a request below this index may lie in a slot whose earlier request had a deadline */
    uint64_t *deadlines; /* for each slot: the deadline of its request; 0: none */
    uint32_t *lengths;   /* for each slot: the length of its request before the request was taken back */
    uint8_t *taken_back; /* for each slot: 1 when its request was taken back; atomic */
};

static struct gyre_queue_expiry *expiry_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_EXPIRY);
}

uint64_t gyre_expiry_set(gyre_queue *queue, uint64_t ttl_ns)
{
    struct gyre_queue_expiry *expiry = expiry_of(queue);
    const uint64_t before = expiry ? expiry->ttl_ns : 0;
    if (expiry)
        expiry->ttl_ns = ttl_ns;
    return before;
}

uint64_t gyre_expiry_deadline(const gyre_queue *queue, uint64_t now_ns)
{
    const struct gyre_queue_expiry *expiry = expiry_of(queue);
    return expiry && expiry->ttl_ns ? now_ns + expiry->ttl_ns : 0;
}

bool gyre_expiry_looks(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_expiry *expiry = expiry_of(queue);
    return expiry && (expiry->ttl_ns || index < expiry->used_end);
}

static void deadline_note(gyre_queue *queue, struct gyre_queue_expiry *expiry, uint64_t index,
                          uint64_t deadline_ns)
{
    const uint64_t place = index & gyre_ring_of(queue)->mask;
    expiry->deadlines[place] = deadline_ns;
    __atomic_store_n(&expiry->taken_back[place], 0, __ATOMIC_RELAXED); /* the slot is this request's alone */
    if (!deadline_ns)
        return;
    expiry->used_end = index + gyre_ring_of(queue)->capacity + 1;
    gyre_attendant_expect(queue, deadline_ns);
}

/* Notes the deadlines of requests. The headers stage has written their headers, each with a deadline (0: none). */
static void expiry_sent(gyre_queue *queue, const struct gyre_sending *sending)
{
    struct gyre_queue_expiry *expiry = expiry_of(queue);
    const bool needed = sending->given || sending->in_place || gyre_expiry_looks(queue, sending->first);
    uint64_t deadline_ns;
    for (uint64_t index = sending->first; needed && index != sending->end; index++) {
        memcpy(&deadline_ns, gyre_header_at(gyre_ring_of(queue), index) + offsetof(gyre_header, deadline_ns),
               sizeof deadline_ns);
        deadline_note(queue, expiry, index, deadline_ns);
    }
}

void gyre_expiry_take_back(gyre_queue *queue, uint64_t index)
{
    struct gyre_queue_expiry *expiry = expiry_of(queue);
    gyre_slot *slot = gyre_request_slot(gyre_ring_of(queue), index);
    if (!expiry)
        return;
    /* once: a worker may write there, and behind the mark a receiver does */
    const uint32_t length = __atomic_load_n(&slot->length, __ATOMIC_RELAXED);
    expiry->deadlines[index & gyre_ring_of(queue)->mask] = 0;
    __atomic_store_n(&expiry->lengths[index & gyre_ring_of(queue)->mask], length, __ATOMIC_RELAXED);
    /* stored before the slot's length: a thread that sees the completion that follows from this length sees the mark,
       too */
    __atomic_store_n(&expiry->taken_back[index & gyre_ring_of(queue)->mask], 1, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->length, gyre_length_taken_back(length), __ATOMIC_RELEASE);
}

static bool is_taken_back(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_expiry *expiry = expiry_of(queue);
    return expiry &&
           __atomic_load_n(&expiry->taken_back[index & gyre_ring_of(queue)->mask], __ATOMIC_ACQUIRE);
}

/* What is left to guess by: a request with a tail says its length in its first word, and another one has the size of its type.
 * Of bytes that do not lie in the slot nothing is known. */
static uint32_t length_guessed(const struct gyre_ring *ring, const gyre_slot *slot)
{
    uint32_t length = ring->request_size;
    if (gyre_requests_bridged(ring))
        return 0;
    if (ring->request_least)
        memcpy(&length, slot + 1, sizeof length);
    return length < ring->request_size ? length : ring->request_size;
}

uint32_t gyre_queue_request_length(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    const gyre_slot *slot = gyre_request_slot(ring, index);
    const uint32_t length =
        __atomic_load_n(&slot->length, __ATOMIC_RELAXED); /* once: a worker may write there */
    if (length <= ring->request_size)
        return length;
    /* what stood in the slot when the request was taken back, which a worker may have written */
    const uint32_t saved =
        is_taken_back(queue, index)
            ? __atomic_load_n(&expiry_of(queue)->lengths[index & ring->mask], __ATOMIC_RELAXED)
            : UINT32_MAX;
    return saved <= ring->request_size ? saved : length_guessed(ring, slot);
}

void gyre_expiry_attend(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    const struct gyre_queue_expiry *expiry = expiry_of(queue);
    const uint64_t sent = gyre_producer_sent(queue);
    /* a device that completes requests that were not sent may lead the cursor beyond `sent` */
    for (uint64_t index = gyre_received(queue); index < sent; index++) {
        const uint64_t deadline_ns = expiry->deadlines[index & ring->mask];
        if (deadline_ns == 0 || gyre_reply_ready(ring, index))
            continue;
        if (deadline_ns <= now_ns)
            gyre_expiry_take_back(queue, index);
        else if (deadline_ns < due->until)
            due->until = deadline_ns;
    }
}

const gyre_failure *gyre_expiry_failure(const gyre_queue *queue, uint64_t index)
{
    static const gyre_failure expired = {GYRE_FAILURE_EXPIRED, "expired: not handled by its deadline"};
    gyre_failure failure;
    if (!is_taken_back(queue, index))
        return NULL;
    memcpy(&failure, gyre_reply_slot(gyre_ring_of(queue), index) + 1, sizeof failure);
    return failure.code == GYRE_FAILURE_LENGTH ? &expired : NULL;
}

static void expiry_failed(gyre_queue *queue, uint64_t index, bool taken)
{
    const gyre_failure *expired = gyre_expiry_failure(queue, index);
    (void)taken;
    if (!expired)
        return;
    /* the device is done with both slots */
    memcpy(gyre_reply_slot(gyre_ring_of(queue), index) + 1, expired, sizeof *expired);
    /* relaxed: the device orders it behind the attendant's store, because it answered only after that store */
    __atomic_store_n(
        &gyre_request_slot(gyre_ring_of(queue), index)->length,
        __atomic_load_n(&expiry_of(queue)->lengths[index & gyre_ring_of(queue)->mask], __ATOMIC_RELAXED),
        __ATOMIC_RELAXED);
}

static void expiry_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_expiry *expiry = state;
    (void)queue;
    free(expiry->deadlines);
    free(expiry->lengths);
    free(expiry->taken_back);
    free(expiry);
}

gyre_status gyre_expiry_create(gyre_queue *queue, uint64_t ttl_ns)
{
    static const struct gyre_queue_stage stage = {
        .number = GYRE_STAGE_EXPIRY, .sent = expiry_sent, .failed = expiry_failed, .destroy = expiry_destroy};
    const uint64_t capacity = gyre_ring_of(queue)->capacity;
    struct gyre_queue_expiry *expiry = calloc(1, sizeof *expiry);
    if (!expiry)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the deadlines of a queue");
    gyre_stage_add(queue, &stage, expiry);
    expiry->ttl_ns = ttl_ns;
    expiry->deadlines = gyre_lines_alloc(capacity * sizeof *expiry->deadlines);
    expiry->taken_back = gyre_lines_alloc(capacity);
    expiry->lengths = gyre_lines_alloc(capacity * sizeof *expiry->lengths);
    if (!expiry->deadlines || !expiry->taken_back || !expiry->lengths)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the deadlines of a queue");
    return GYRE_OK;
}
