/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a queue, for a while or for good (end.h): refuses sends, ends waits, completes requests that no device will handle.
 *
 * Locks: the producer's while sends are closed or the ring is completed; the consumer's to reopen.
 */
#include "core/queue/end.h"

#include <limits.h>

#include "core/queue/consumer.h"
#include "core/queue/lent.h"
#include "core/queue/line.h"
#include "core/queue/progress.h"
#include "core/queue/senders.h"
#include "core/queue/side.h"
#include "core/ring/express.h"
#include "core/ring/outcome.h"
#include "core/ring/ring_message.h"
#include "gyre/waiting.h"

void gyre_queue_close_sends(gyre_queue *queue)
{
    /* under the lock, so that a send that saw "open" has published its requests before a thread counts the outstanding
       ones */
    gyre_producer_take(queue);
    __atomic_store_n(&queue->state.closed, 1, __ATOMIC_SEQ_CST);
    gyre_senders_call_all(queue);
    gyre_producer_give(queue);
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
    gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
    if (queue->foreign.lent)
        gyre_lent_tell(queue);
}

void gyre_queue_orphan(gyre_queue *queue)
{
    __atomic_store_n(&queue->state.orphaned, 1, __ATOMIC_SEQ_CST); /* before the bells that close rings */
    gyre_queue_close_sends(queue);
}

void gyre_queue_abandon(gyre_queue *queue)
{
    __atomic_store_n(&queue->state.abandoned, 1, __ATOMIC_SEQ_CST); /* before the bells that close rings */
    gyre_queue_close_sends(queue);
}

uint64_t gyre_queue_rewind(gyre_queue *queue)
{
    gyre_producer_take(queue); /* the queue's attendant thread may be moving messages */
    if (queue->line)
        queue->line->begin(queue);
    const uint64_t next = gyre_queue_next_index(queue);
    gyre_producer_give(queue);
    return next;
}

void gyre_queue_reopen(gyre_queue *queue)
{
    __atomic_store_n(&queue->state.misused, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&queue->state.closed, 0, __ATOMIC_SEQ_CST);
    if (!queue->ways.many_threads ||
        queue->foreign.lent) /* a client's cursor is looked at without the lock */
        return;
    /* gyre_consumer_give makes the descriptor, which told of the end, unreadable again */
    gyre_consumer_take(queue);
    gyre_consumer_give(queue);
}

void gyre_queue_complete_one(gyre_queue *queue, uint64_t index)
{
    gyre_outcome_unhandled(&queue->ring, index);
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
}

static uint64_t complete_ring(gyre_queue *queue)
{
    uint64_t count = 0, end = gyre_queue_next_index(queue);
    gyre_express_settle(&queue->ring);
    for (uint64_t index = gyre_received(queue); index < end; index++) {
        if (gyre_reply_ready(&queue->ring, index))
            continue;
        gyre_outcome_unhandled(&queue->ring, index);
        /* a request that was over in the line was counted there */
        count += !(queue->line && queue->line->over(queue, index));
    }
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
    if (queue->foreign.lent)
        gyre_lent_end(queue);
    return count;
}

uint64_t gyre_queue_complete_unhandled(gyre_queue *queue)
{
    if (!queue->line)
        return complete_ring(queue);
    /* keeps the attendant from moving waiting messages into a ring that is completed already */
    gyre_producer_take(queue);
    uint64_t count = queue->line->end(queue);
    count += complete_ring(queue);
    queue->line->pump(queue); /* messages that find no room follow as receivers make room */
    gyre_producer_give(queue);
    return count;
}
