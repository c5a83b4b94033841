/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives the consumer's side of a queue back (side.h). Before that, the holder of the lock steps over calls that ended before
 * their turn.
 *
 * Lock: the consumer's.
 */
#include "core/queue/consumer.h"

#include "core/queue/bells.h"
#include "core/queue/mark.h"
#include "core/queue/take.h"
#include "core/queue/watch.h"

/*
 * Whether the slot at the cursor belongs to a call that ended. Reads the mark first, and mostly the mark alone: the device
 * writes the reply slot's cache line next, and a look at it would cost the next call a journey of that line.
 */
static bool call_finished(const gyre_queue *queue, uint64_t index)
{
    uint8_t mark = gyre_mark_get(queue, index);
    return mark == GYRE_MARK_DONE || (mark == GYRE_MARK_ABANDONED && gyre_reply_ready(&queue->ring, index));
}

static void step_over_finished_calls(gyre_queue *queue)
{
    uint64_t index = queue->consumer.received, given_up = 0;
    while (call_finished(queue, index)) {
        if (gyre_mark_get(queue, index) == GYRE_MARK_ABANDONED) {
            given_up++;
            gyre_express_settle(&queue->ring);
            gyre_failures_take(queue, index, index + 1);
        }
        gyre_mark_set_locked(queue, index, GYRE_MARK_SEND);
        index++;
    }
    if (index != queue->consumer.received)
        gyre_replies_pass(queue, index, 0);
    if (given_up)
        __atomic_fetch_add(&queue->consumer.abandoned, given_up,
                           __ATOMIC_RELEASE); /* pairs with the statistics */
}

/* A thread that sees a completion also sees producer.sending, because the sender stored it before it published the
 * request. */
size_t gyre_consumer_most_anew(gyre_queue *queue, size_t count)
{
    const uint64_t sending = __atomic_load_n(&queue->producer.sending, __ATOMIC_RELAXED),
                   room = sending - queue->consumer.received;
    if (queue->ways.device_lies)
        queue->consumer.sent_seen = sending;
    return count < room ? count : (size_t)room;
}

void gyre_consumer_give(gyre_queue *queue)
{
    for (;;) {
        step_over_finished_calls(queue);
        if (queue->watch)
            queue->watch->settle(queue);
        if (!queue->ways.many_threads) {
            gyre_side_leave(&queue->consumer.busy);
            break;
        }
        gyre_lock_give(&queue->consumer.lock);
        /* A caller that finished meanwhile found the lock taken and left its slot to this thread: see lock.h. */
        if (!call_finished(queue, gyre_received(queue)) || !gyre_lock_try(&queue->consumer.lock))
            break;
    }
    gyre_queue_ring_credit(queue);
}
