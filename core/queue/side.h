/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes and gives the locks of a queue's two sides: a sending thread holds the producer's side, a receiving thread the
 * consumer's. With threads = one a side has no lock: builds with GYRE_CHECKED watch for a second thread, other builds do
 * nothing.
 */
#ifndef GYRE_CORE_QUEUE_SIDE_H
#define GYRE_CORE_QUEUE_SIDE_H

#include "core/queue/state.h"

/* Enters a side that has no lock. Seq_cst: when two threads are inside at once, at least one of them sees the other. */
static inline void gyre_side_enter(gyre_queue *queue, uint8_t *busy)
{
#ifdef GYRE_CHECKED
    if (__atomic_exchange_n(busy, 1, __ATOMIC_SEQ_CST))
        gyre_queue_misuse(queue);
#else
    (void)queue;
    (void)busy;
#endif
}

static inline void gyre_side_leave(uint8_t *busy)
{
#ifdef GYRE_CHECKED
    __atomic_store_n(busy, 0, __ATOMIC_SEQ_CST);
#else
    (void)busy;
#endif
}

/** Gives both sides locks although the configuration says threads = one, because a thread of the queue's own uses it, too.
 * Called while the queue is made. */
static inline void gyre_queue_expect_threads(gyre_queue *queue)
{
    queue->ways.many_threads = true;
}

/* ---- requests that are sent again ---- */

/** Has requests that are sent again keep the time of their first send (gyre_header.sent_ns). Called while the queue is made. */
static inline void gyre_queue_keep_sent(gyre_queue *queue)
{
    queue->ways.keeps_sent = true;
}

/** What is added to times of requests that an earlier start of the machine sent. Set before they are sent again. */
static inline void gyre_queue_set_sent_shift(gyre_queue *queue, uint64_t shift_ns)
{
    queue->ways.sent_shift = shift_ns;
}

static inline uint64_t gyre_queue_sent_shift(const gyre_queue *queue)
{
    return queue->ways.sent_shift;
}

/** Under the producer lock: what is sent from now on was sent before (`again`), or not. */
static inline void gyre_queue_send_again(gyre_queue *queue, bool again)
{
    queue->producer.again = again && queue->ways.keeps_sent;
}

/** Under the producer lock: whether what is sent keeps its time. */
static inline bool gyre_queue_is_sent_again(const gyre_queue *queue)
{
    return queue->producer.again;
}

/* ---- the producer's ---- */

static inline void gyre_producer_take(gyre_queue *queue)
{
    if (queue->ways.many_threads)
        gyre_lock_take(&queue->producer.lock);
    else
        gyre_side_enter(queue, &queue->producer.busy);
}

static inline void gyre_producer_give(gyre_queue *queue)
{
    if (queue->ways.many_threads)
        gyre_lock_give(&queue->producer.lock);
    else
        gyre_side_leave(&queue->producer.busy);
}

/**
 * Notes that a reservation, a line of senders or a storm begins or ends (`set`). Under the lock. Release pairs with a thread
 * that waits for the end and looks without the lock: the result (`sent`, a cursor) was stored before.
 */
static inline void gyre_barred_set(gyre_queue *queue, enum gyre_barred bit, bool set)
{
    const unsigned others = queue->producer.barred & ~(unsigned)bit;
    __atomic_store_n(&queue->producer.barred, (uint8_t)(set ? others | bit : others), __ATOMIC_RELEASE);
}

/** Whether a reservation is open. With or without the lock. */
static inline bool gyre_is_reserving(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->producer.barred, __ATOMIC_ACQUIRE) & GYRE_BARRED_RESERVING;
}

/** Under the lock: notes that requests before `end` are about to be published. The release of their sequences makes the note
 * visible. */
static inline void gyre_producer_announce(gyre_queue *queue, uint64_t end)
{
    __atomic_store_n(&queue->producer.sending, end, __ATOMIC_RELAXED);
}

/** Under the lock: the next index to send. */
static inline uint64_t gyre_producer_sent(const gyre_queue *queue)
{
    return queue->producer.sent;
}

/** Under the lock: how many slots are free, by the last known cursor of the receivers. There may be more. */
static inline uint64_t gyre_producer_room(gyre_queue *queue)
{
    return queue->ring.capacity - (queue->producer.sent - queue->producer.received_seen);
}

/*
 * Keeps the exact maximum of sent - received without reading the consumer's cache line for each message. The last known
 * `received` gives an upper bound of the difference; the real value is read only if that bound exceeds the maximum.
 */
static inline void gyre_producer_note_depth(gyre_queue *queue, uint64_t sent)
{
    if (sent - queue->producer.received_seen <= queue->producer.high_water)
        return;
    queue->producer.received_seen = gyre_received(queue);
    uint64_t depth = sent - queue->producer.received_seen;
    if (depth > queue->producer.high_water)
        __atomic_store_n(&queue->producer.high_water, depth, __ATOMIC_RELAXED);
}

/* ---- the consumer's ---- */

static inline void gyre_consumer_take(gyre_queue *queue)
{
    if (queue->ways.many_threads)
        gyre_lock_take(&queue->consumer.lock);
    else
        gyre_side_enter(queue, &queue->consumer.busy);
}

/** Takes the consumer's lock if it is free. False: another thread has it. */
static inline bool gyre_consumer_try(gyre_queue *queue)
{
    if (queue->ways.many_threads)
        return gyre_lock_try(&queue->consumer.lock);
    gyre_side_enter(queue, &queue->consumer.busy);
    return true;
}

static inline void gyre_peeking_set(gyre_queue *queue, bool peeking)
{
    __atomic_store_n(&queue->consumer.peeking, peeking, __ATOMIC_RELEASE);
}

static inline bool gyre_is_peeking(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->consumer.peeking, __ATOMIC_ACQUIRE);
}

#endif
