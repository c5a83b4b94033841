/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and sets the state of a queue: how far it has come, whether it takes messages, and how many threads are inside a
 * call. No locks. */
#ifndef GYRE_CORE_QUEUE_STATE_H
#define GYRE_CORE_QUEUE_STATE_H

#include "core/queue/queue.h"

static inline uint64_t gyre_received(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->consumer.received, __ATOMIC_ACQUIRE);
}

static inline bool gyre_queue_closed(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->state.closed, __ATOMIC_ACQUIRE) != 0;
}

static inline bool gyre_queue_abandoned(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->state.abandoned, __ATOMIC_ACQUIRE) != 0;
}

/** Whether the device died and no other device takes its place. */
static inline bool gyre_queue_lost(const gyre_queue *queue)
{
    if (__atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE))
        return true;
    return !queue->ways.device_returns &&
           __atomic_load_n(&queue->ring.control->device.lost, __ATOMIC_ACQUIRE) != 0;
}

/** Whether a closed queue was closed because the device, its worker or the program that served it died. */
static inline bool gyre_queue_gone(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&queue->ring.control->device.lost, __ATOMIC_ACQUIRE) != 0;
}

/** Whether the queue was disowned (in a forked child) or misused (by two threads at once). gyre_queue_tell_refused sets the
 * error for such a queue. */
static inline bool gyre_queue_refused(const gyre_queue *queue)
{
    return queue->state.disowned || __atomic_load_n(&queue->state.misused, __ATOMIC_ACQUIRE);
}

/** Notes that the program that served the queue ended, and the queue waits for its next server. `away` false: that server
 * is there. */
static inline void gyre_queue_set_away(gyre_queue *queue, bool away)
{
    __atomic_store_n(&queue->state.away, away, __ATOMIC_RELAXED);
}

/**
 * Wakes threads of the queue's client that sleep at the device's bell, after a change that the caller stored. The fence in it pairs with
 * the barrier of a waiter between its note that it sleeps and its last look.
 */
void gyre_queue_wake_client(const gyre_queue *queue);

/** Says why a queue loses its server. Called before gyre_queue_orphan. The caller frees `why` after gyre_queue_destroy. */
static inline void gyre_queue_set_lost_why(gyre_queue *queue, const char *why)
{
    queue->state.lost_why = why;
}

static inline const char *gyre_queue_lost_why(const gyre_queue *queue)
{
    return queue->state.lost_why;
}

/** Notes that `count` more threads are about to sleep until there is room. A negative count, which wraps, takes that
 * back. */
static inline void gyre_queue_announce_waiters(gyre_queue *queue, uint32_t count)
{
    __atomic_fetch_add(&queue->state.credit_waiters, count, __ATOMIC_SEQ_CST);
}

/** Called in a forked child: closes the child's copy of the queue, and touches nothing that its parent sees. */
void gyre_queue_disown(gyre_queue *queue);
/** Closes a queue because two threads were in one side that has no lock. The queue's content may be wrong. */
void gyre_queue_misuse(gyre_queue *queue);

/** Called before a call waits: until gyre_queue_leave no thread can free the queue. *inside: whether the call is already
 * counted, for gyre_queue_leave. */
static inline void gyre_queue_stay(gyre_queue *queue, uint64_t deadline_ns, bool *inside)
{
    if (*inside || deadline_ns == GYRE_NO_WAIT)
        return;
    __atomic_fetch_add(&queue->state.inside, 1, __ATOMIC_ACQ_REL);
    *inside = true;
}

/** Ends gyre_queue_stay. The call must not touch the queue afterwards, because the queue may be freed then. */
static inline void gyre_queue_leave(gyre_queue *queue, bool inside)
{
    if (inside)
        __atomic_fetch_sub(&queue->state.inside, 1, __ATOMIC_RELEASE); /* pairs with gyre_queue_destroy */
}

#endif
