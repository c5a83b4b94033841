/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time to live: a request that no handler took up by its deadline is taken back.
 *
 * Taking back needs nothing of the device: the request's length becomes one that no message has
 * (GYRE_LENGTH_TAKEN_BACK). This side knows which ones it took back, and makes their failures say so. A handler
 * that was quicker has handled the message, and that is what its completion says.
 *
 * Lock: the producer's; so no slot is given to another message while it is looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/stages/behaviours.h"

struct gyre_queue_expiry {
    uint64_t ttl_ns;
    uint64_t used_end;   /* requests below may stand where one with a deadline stood */
    uint64_t *deadlines; /* one a slot; 0: none */
    uint32_t *lengths;   /* one a slot: of a request that was taken back, what its length was */
    uint8_t *taken_back; /* one a slot; atomic */
};

gyre_status gyre_queue_expiry_create(gyre_queue *queue, uint64_t ttl_ns)
{
    struct gyre_queue_expiry *expiry = calloc(1, sizeof *expiry);
    if (!expiry)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the deadlines of a queue");
    queue->expiry = expiry;
    expiry->ttl_ns = ttl_ns;
    expiry->deadlines = gyre_lines_alloc(queue->capacity * sizeof *expiry->deadlines);
    expiry->taken_back = gyre_lines_alloc(queue->capacity);
    expiry->lengths = gyre_lines_alloc(queue->capacity * sizeof *expiry->lengths);
    if (!expiry->deadlines || !expiry->taken_back || !expiry->lengths)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the deadlines of a queue");
    return GYRE_OK;
}

void gyre_queue_expiry_destroy(gyre_queue *queue)
{
    if (!queue->expiry)
        return;
    free(queue->expiry->deadlines);
    free(queue->expiry->lengths);
    free(queue->expiry->taken_back);
    free(queue->expiry);
    queue->expiry = NULL;
}

uint64_t gyre_queue_expiry_set(gyre_queue *queue, uint64_t ttl_ns)
{
    const uint64_t before = queue->expiry ? queue->expiry->ttl_ns : 0;
    if (queue->expiry)
        queue->expiry->ttl_ns = ttl_ns;
    return before;
}

uint64_t gyre_queue_expiry_deadline(const gyre_queue *queue, uint64_t now_ns)
{
    return queue->expiry->ttl_ns ? now_ns + queue->expiry->ttl_ns : 0;
}

void gyre_queue_expiry_sent(gyre_queue *queue, uint64_t index, uint64_t deadline_ns)
{
    struct gyre_queue_expiry *expiry = queue->expiry;
    const uint64_t place = index & queue->mask;
    expiry->deadlines[place] = deadline_ns;
    __atomic_store_n(&expiry->taken_back[place], 0, __ATOMIC_RELAXED); /* the slot is this request's alone */
    if (!deadline_ns)
        return;
    expiry->used_end = index + queue->capacity + 1;
    gyre_queue_attendant_expect(queue, deadline_ns);
}

bool gyre_queue_expiry_used(const gyre_queue *queue, uint64_t index)
{
    return index < queue->expiry->used_end;
}

void gyre_queue_expiry_take_back(gyre_queue *queue, uint64_t index)
{
    struct gyre_queue_expiry *expiry = queue->expiry;
    gyre_slot *slot = gyre_request_slot(queue, index);
    expiry->deadlines[index & queue->mask] = 0;
    __atomic_store_n(&expiry->lengths[index & queue->mask], slot->length, __ATOMIC_RELAXED);
    /* before the slot's length: pairs with the receiver, who has the completion that comes of it */
    __atomic_store_n(&expiry->taken_back[index & queue->mask], 1, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->length, GYRE_LENGTH_TAKEN_BACK, __ATOMIC_RELEASE);
}

uint64_t gyre_queue_expiry_sweep(gyre_queue *queue, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;
    /* a device that lies has the cursor run ahead of what was sent */
    for (uint64_t index = gyre_received(queue); index < queue->producer.sent; index++) {
        const uint64_t deadline_ns = queue->expiry->deadlines[index & queue->mask];
        if (deadline_ns == 0 || gyre_reply_ready(queue, index))
            continue;
        if (deadline_ns <= now_ns)
            gyre_queue_expiry_take_back(queue, index);
        else if (deadline_ns < next)
            next = deadline_ns;
    }
    return next;
}

const gyre_failure *gyre_queue_expiry_failure(const gyre_queue *queue, uint64_t index)
{
    static const gyre_failure expired = {GYRE_FAILURE_EXPIRED, "expired: not handled by its deadline"};
    gyre_failure failure;
    if (!queue->expiry || !__atomic_load_n(&queue->expiry->taken_back[index & queue->mask], __ATOMIC_ACQUIRE))
        return NULL;
    memcpy(&failure, gyre_reply_slot(queue, index) + 1, sizeof failure);
    return failure.code == GYRE_FAILURE_LENGTH ? &expired : NULL;
}

void gyre_queue_expiry_settle(const gyre_queue *queue, uint64_t index)
{
    const gyre_failure *expired = gyre_queue_expiry_failure(queue, index);
    if (!expired)
        return;
    /* the device is done with both slots */
    memcpy(gyre_reply_slot(queue, index) + 1, expired, sizeof *expired);
    /* relaxed: what orders it behind the attendant's store is the device, which answered because of that */
    __atomic_store_n(&gyre_request_slot(queue, index)->length,
                     __atomic_load_n(&queue->expiry->lengths[index & queue->mask], __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}
