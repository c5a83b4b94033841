/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes completions: these functions are the stations of a completion on its way to a client. Receivers, callers, views,
 * senders that drop the oldest message, and threads that step over a given-up call all use them:
 *
 *   seen     gyre_replies_see: stages look at it, and an outcome that no device may write becomes a failure
 *   failed   gyre_failures_show, gyre_failures_take: stages write the cause into a failure; a taken failure may leave a letter
 *   taken    gyre_replies_taken: stages note that a client has taken the completion
 *   told     gyre_reply_tell: the message's header and times go to the client
 *   passed   gyre_replies_pass: the cursor moves over it, and everything that it held is free again
 *
 * All functions run under the consumer lock. Exception: the caller of gyre_call needs no lock for its own slot, except to
 * pass it.
 */
#ifndef GYRE_CORE_QUEUE_TAKE_H
#define GYRE_CORE_QUEUE_TAKE_H

#include "core/queue/queue.h"
#include "core/ring/ring_message.h"

/** Lets the stages look at completions [first, end), as far as they are there. */
static inline void gyre_replies_see(const gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (size_t i = 0; __builtin_expect(queue->stages.seen[i] != NULL, 0); i++)
        queue->stages.seen[i](queue, first, end);
}

/** What gyre_queue_reply_settle does for a completion that is not just a reply. */
void gyre_queue_reply_look(gyre_queue *queue, uint64_t index);

/** Turns the device's outcome of request `index`, which is completed, into the outcome that a client is told. */
static inline void gyre_queue_reply_settle(gyre_queue *queue, uint64_t index)
{
    if (queue->stages.seen[0] || gyre_slot_info(gyre_reply_slot(&queue->ring, index)) != GYRE_OUTCOME_REPLY)
        gyre_queue_reply_look(queue, index);
}

/** Lets the stages write the causes into failures among completions [first, end), which a client is shown in views (show)
 * or takes (take). */
void gyre_failures_show(gyre_queue *queue, uint64_t first, uint64_t end);
void gyre_failures_take(gyre_queue *queue, uint64_t first, uint64_t end);
/** Tells tracers of the failures that were taken as views. */
void gyre_failures_trace(const gyre_queue *queue, uint64_t first, uint64_t end);

/**
 * Copies a reply that fits `size` bytes and needs only copying, which is the usual completion; *length: the reply's. False:
 * the completion needs a closer look (gyre_queue_read_reply). `bytes`: the `bytes` of the ring.
 */
static inline bool gyre_reply_copy(const gyre_queue *queue, const struct gyre_ring_bytes *bytes,
                                   const gyre_slot *slot, void *reply, size_t size, uint32_t *length)
{
    *length = gyre_slot_length(slot);
    if (gyre_slot_info(slot) != GYRE_OUTCOME_REPLY || *length > queue->ways.quick_reply_size ||
        *length > size)
        return false;
    const void *payload = gyre_reply_payload(bytes, slot, *length);
    if (!payload)
        return false;
    gyre_payload_copy(reply, payload, *length);
    return true;
}

/**
 * Lets the stages see the completion of request `index`, fills in *completion (unless NULL) and copies the reply. A failure
 * counts as taken. INVALID when the reply does not fit, INTERNAL when the device wrote wrong values; then nothing is
 * written.
 */
gyre_status gyre_queue_read_reply(gyre_queue *queue, uint64_t index, void *reply, size_t size,
                                  gyre_completion *completion);

/** Sets the error for a caller that gave no gyre_completion, when its request ended without a reply. FAILED, CLOSED or
 * LOST. */
gyre_status gyre_queue_tell_outcome(const gyre_queue *queue, const gyre_completion *completion);

/** Fills in the completion of a request that was replied to. Writes only the first byte of the failure text, because
 * completions are large. */
static inline void gyre_completion_replied(gyre_completion *completion, uint64_t index, uint32_t length)
{
    completion->index = index;
    completion->outcome = GYRE_REPLIED;
    completion->failure_code = 0;
    completion->length = length;
    completion->failure_text[0] = '\0';
}

/** Tells the stages that completions [first, end) are taken, before their slots are given back. */
static inline void gyre_replies_taken(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (__builtin_expect(gyre_stages_note_some(&queue->stages, first, end), 0))
        for (size_t i = 0; queue->stages.taken[i]; i++)
            queue->stages.taken[i](queue, first, end);
}

/** Fills in the header and times of a request whose completion was taken. */
void gyre_reply_tell(const gyre_queue *queue, uint64_t index, gyre_message_info *info);

/** Frees the memory that completions [first, end) hold besides their slots. Only for a queue with stages.frees. */
void gyre_replies_give_back(gyre_queue *queue, uint64_t first, uint64_t end);

/** Moves the cursor over all completions before `end`. `dropped`: how many of them count as dropped. Under the consumer
 * lock. */
static inline void gyre_replies_pass(gyre_queue *queue, uint64_t end, uint64_t dropped)
{
    if (__builtin_expect(queue->stages.frees, 0))
        gyre_replies_give_back(queue, queue->consumer.received, end);
    __atomic_store_n(&queue->consumer.received, end, __ATOMIC_RELEASE); /* pairs with gyre_received */
    if (__builtin_expect(dropped != 0, 0))
        /* pairs with the statistics */
        __atomic_fetch_add(&queue->consumer.dropped, dropped, __ATOMIC_RELEASE);
}

/** Whether the device dropped request `index` because a sender asked for its slot. */
static inline bool gyre_reply_was_dropped(const gyre_queue *queue, uint64_t index)
{
    return gyre_reply_slot(&queue->ring, index)->info == GYRE_OUTCOME_DROPPED;
}

#endif
