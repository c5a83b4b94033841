/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, hides and fails the unanswered requests of a queue whose device died (resume.h). Most functions take no lock. A
 * sender in the middle of a send has published requests that `sent` does not count yet, so the search looks at slots.
 */
#include "core/queue/resume.h"

#include <limits.h>
#include <string.h>

#include "core/queue/bells.h"
#include "core/queue/choice_rules.h"
#include "core/queue/consumer.h"
#include "core/queue/lent.h"
#include "core/queue/progress.h"
#include "core/queue/side.h"
#include "core/ring/express.h"
#include "core/ring/outcome.h"
#include "core/ring/ring_message.h"
#include "gyre/waiting.h"

/* `index`, or an earlier one: from the result on no request was sent, where completions of such requests do not count. */
static uint64_t up_to_sent(const gyre_queue *queue, uint64_t index)
{
    if (!queue->ways.device_lies || queue->foreign.lent) /* a client of another program has its own cursor */
        return index;
    /* relaxed: a thread that saw a completion sees the word, too (side.h) */
    const uint64_t sending = __atomic_load_n(&queue->producer.sending, __ATOMIC_RELAXED);
    return index < sending ? index : sending;
}

uint64_t gyre_queue_first_unanswered(const gyre_queue *queue)
{
    if (queue->foreign.lent)
        gyre_lent_look(queue->foreign.lent);
    uint64_t index = gyre_received(queue), end = index + queue->ring.capacity;
    while (index != end && gyre_reply_ready(&queue->ring, index))
        index++;
    return up_to_sent(queue, index);
}

/* A device takes requests in their order, so it has taken none behind one that is not published. */
uint64_t gyre_queue_end_of_overtaken(const gyre_queue *queue)
{
    const uint64_t first = gyre_queue_first_unanswered(queue),
                   most = up_to_sent(queue, gyre_received(queue) + queue->ring.capacity);
    uint64_t end = first;
    for (uint64_t index = first; index < most; index++)
        if (gyre_reply_ready(&queue->ring, index))
            end = index + 1;
        else if (gyre_queue_is_damaged(queue, index))
            break;
    return end;
}

uint64_t gyre_queue_next_unanswered(const gyre_queue *queue, uint64_t index)
{
    const uint64_t end =
        gyre_received(queue) + queue->ring.capacity; /* another program may write the ring meanwhile */
    while (index < end && gyre_reply_ready(&queue->ring, index))
        index++;
    return index;
}

uint64_t gyre_queue_count_unanswered(const gyre_queue *queue, uint64_t end, uint64_t most)
{
    uint64_t count = 0, sent = gyre_queue_next_index(queue);
    for (uint64_t index = gyre_queue_first_unanswered(queue); index < end && index < sent; index++) {
        count += !gyre_reply_ready(&queue->ring, index);
        if (count == most)
            break;
    }
    return count;
}

/* No handler ran for a request that the host completed or that the device passed over. */
bool gyre_queue_was_handled(const gyre_queue *queue, uint64_t index)
{
    const gyre_slot *reply = gyre_reply_slot(&queue->ring, index);
    gyre_failure failure;
    if (reply->info == GYRE_OUTCOME_DROPPED || reply->info == GYRE_OUTCOME_UNHANDLED)
        return false;
    if (reply->info != GYRE_OUTCOME_FAILED)
        return true;
    memcpy(&failure, reply + 1, sizeof failure);
    switch (failure.code) {
    case GYRE_FAILURE_CRASH:
    case GYRE_FAILURE_EXPIRED:
    case GYRE_FAILURE_SEAL:
    case GYRE_FAILURE_LENGTH: /* also a late request that was taken back, before a look made it EXPIRED */
        return false;
    default:
        return true;
    }
}

static void mark_answered(gyre_queue *queue, bool handled_too)
{
    uint64_t first = gyre_queue_first_unanswered(queue), end = gyre_received(queue) + queue->ring.capacity;
    for (uint64_t index = first; index < end; index++) {
        gyre_slot *request = gyre_request_slot(&queue->ring, index);
        if (!gyre_reply_ready(&queue->ring, index))
            continue;
        if (!handled_too && gyre_queue_was_handled(queue, index) &&
            !gyre_choice_is_query(&queue->choices, request + 1))
            continue;
        request->length = GYRE_LENGTH_ANSWERED;
        request->info = GYRE_REQUEST_ANSWERED;
    }
}

void gyre_queue_mark_answered(gyre_queue *queue)
{
    mark_answered(queue, true);
}

void gyre_queue_mark_settled(gyre_queue *queue)
{
    mark_answered(queue, false);
}

void gyre_queue_set_claim(gyre_queue *queue, uint64_t index)
{
    __atomic_store_n(&queue->ring.shared->claim.next, index,
                     __ATOMIC_RELAXED); /* the next launch publishes it */
}

void gyre_queue_renew(gyre_queue *queue)
{
    if (queue->foreign.lent)
        return;
    gyre_producer_take(queue);
    queue->ring.shared->host.parks = queue->ways.idle == GYRE_WAIT_PARK;
    __atomic_store_n(&queue->ring.shared->host.drop_before, queue->producer.drop_before,
                     __ATOMIC_RELAXED); /* the next launch publishes it */
    gyre_producer_give(queue);
}

/* A request that is hidden behind the gate has no sequence in its slot, but is not damaged. */
bool gyre_queue_is_damaged(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&gyre_request_slot(&queue->ring, index)->sequence, __ATOMIC_RELAXED) !=
               index + 1 &&
           index != queue->view.gate;
}

/* Makes a slot look like an answered request, so that a device that waits for this index passes over it. */
static void pass_over(gyre_queue *queue, uint64_t index)
{
    gyre_slot *request = gyre_request_slot(&queue->ring, index);
    request->length = GYRE_LENGTH_ANSWERED;
    request->info = GYRE_REQUEST_ANSWERED;
    __atomic_store_n(&request->sequence, index + 1, __ATOMIC_RELAXED); /* the next launch publishes it */
}

uint64_t gyre_queue_fail_damaged(gyre_queue *queue)
{
    uint64_t count = 0;
    if (queue->foreign.lent) /* its slots are the client's to write */
        return 0;
    const uint64_t end = gyre_queue_next_index(queue); /* all below were published before they were counted */
    for (uint64_t index = gyre_queue_first_unanswered(queue); index < end; index++) {
        if (!gyre_queue_is_damaged(queue, index))
            continue;
        pass_over(queue, index);
        if (gyre_reply_ready(&queue->ring, index))
            continue;
        gyre_queue_fail(queue, index, GYRE_FAILURE_CRASH, "a worker process overwrote the request");
        count++;
    }
    return count;
}

void gyre_queue_fail(gyre_queue *queue, uint64_t index, int32_t code, const char *text)
{
    gyre_slot *slot = gyre_reply_slot(&queue->ring, index);
    gyre_slot_fail(slot, code, text);
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
}

void gyre_queue_hide(gyre_queue *queue, uint64_t index)
{
    if (queue->foreign.lent)
        gyre_lent_look(queue->foreign.lent); /* a later look would stop at the hidden request */
    /* the sender may not have written the request's express copy yet, so wait for it; with one thread its send is over, and
     * the producer's side belongs to that thread */
    if (queue->ways.many_threads)
        gyre_producer_take(queue);
    __atomic_store_n(&gyre_request_slot(&queue->ring, index)->sequence, 0, __ATOMIC_RELAXED);
    gyre_express_withdraw(&queue->ring);
    if (queue->ways.many_threads)
        gyre_producer_give(queue);
}

void gyre_queue_show(gyre_queue *queue, uint64_t index)
{
    /* pairs with the worker's acquire */
    __atomic_store_n(&gyre_request_slot(&queue->ring, index)->sequence, index + 1, __ATOMIC_RELEASE);
    gyre_queue_ring_doorbell(queue, queue->ring.capacity);
}

void gyre_queue_resume_bytes(gyre_queue *queue)
{
    if (!queue->ring.bytes || !queue->ring.bytes->replies)
        return;
    gyre_consumer_take(queue);
    gyre_bytes_resume(&queue->ring);
    gyre_consumer_give(queue);
}
