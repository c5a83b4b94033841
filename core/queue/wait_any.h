/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for several queues at once. */
#ifndef GYRE_CORE_QUEUE_WAIT_ANY_H
#define GYRE_CORE_QUEUE_WAIT_ANY_H

#include "core/queue/queue.h"

/** Queues of one kernel; at least one. */
struct gyre_queue_group {
    gyre_queue *const *queues;
    uint32_t count;
    const uint32_t
        *closing; /* atomic; not 0: waits end with CLOSED. Its writer rings a bell of each queue. */
};

/**
 * Waits until a receiver may find a completion in one of the queues. CLOSED when none will come, LOST,
 * TIMEOUT; the sentence is set. The caller keeps the queues from being freed.
 */
gyre_status gyre_queue_wait_any(const struct gyre_queue_group *group, uint64_t deadline_ns);

/** The same without waiting: OK, AGAIN, CLOSED or LOST; sets no sentence. */
gyre_status gyre_queue_group_look(const struct gyre_queue_group *group);

/** The result of a receiver's look at a queue. */
enum gyre_answer {
    GYRE_ANSWER_READY,  /* a completion for a receiver */
    GYRE_ANSWER_EMPTY,  /* one may come */
    GYRE_ANSWER_HELD,   /* one is there, and another thread's peek or call is before it */
    GYRE_ANSWER_CLOSED, /* none will come */
    GYRE_ANSWER_LOST    /* the device died */
};
enum gyre_answer gyre_queue_ask(const gyre_queue *queue);

/** Whether a receiver would find a completion now, if no other receiver is quicker. */
bool gyre_queue_has_completion(const gyre_queue *queue);

#endif
