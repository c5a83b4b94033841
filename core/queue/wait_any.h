/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for completions of several queues of one kernel at once, for shards. gyre_wait_any of gyre.h is in
 * wishes.h. */
#ifndef GYRE_CORE_QUEUE_WAIT_ANY_H
#define GYRE_CORE_QUEUE_WAIT_ANY_H

#include "core/queue/queue.h"

/** The queues to wait for: one or more queues of one kernel. */
struct gyre_queue_group {
    gyre_queue *const *queues;
    uint32_t count;
    const uint32_t *
        closing; /* atomic; not 0: waits end with CLOSED. Its writer rings a bell of each queue. Seq_cst: a thread that counted itself
                   * in before its look is seen by the writer, or sees the word. */
};

/**
 * Waits until a receiver may find a completion in one of the queues. CLOSED when no completion will come in any, LOST,
 * TIMEOUT; the sentence is set. The caller keeps the queues from being freed.
 */
gyre_status gyre_queue_wait_any(const struct gyre_queue_group *group, uint64_t deadline_ns);

/** As gyre_queue_wait_any, but does not wait: OK, AGAIN, CLOSED or LOST. Sets no sentence. */
gyre_status gyre_queue_group_look(const struct gyre_queue_group *group);

/** The result of a receiver's look at a queue. */
enum gyre_answer {
    GYRE_ANSWER_READY,  /* a completion for a receiver is there */
    GYRE_ANSWER_EMPTY,  /* no completion is there, but a completion may come */
    GYRE_ANSWER_HELD,   /* a completion is there, but another thread's peek or call is before it */
    GYRE_ANSWER_CLOSED, /* no completion will come */
    GYRE_ANSWER_LOST    /* the device died */
};
/** Looks at a queue as a receiver would. */
enum gyre_answer gyre_queue_ask(const gyre_queue *queue);

/** Whether a receiver would find a completion now, unless another receiver is quicker. */
bool gyre_queue_has_completion(const gyre_queue *queue);

#endif
