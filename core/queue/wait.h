/* SPDX-License-Identifier: Apache-2.0 */
/* Waits at one queue until a condition holds. wishes.h and wait_any.h wait for several queues. */
#ifndef GYRE_CORE_QUEUE_WAIT_H
#define GYRE_CORE_QUEUE_WAIT_H

#include <time.h>

#include "core/queue/queue.h"
#include "gyre/waiting.h"

/**
 * A condition tells whether a wait is over. 1: the condition holds; 0: not yet; -1: it will never hold (CLOSED). It is
 * called often, so it must be quick.
 */
typedef int (*gyre_wait_condition)(const gyre_queue *queue, uint64_t argument);

enum gyre_wait_bell { GYRE_BELL_DEVICE, GYRE_BELL_CREDIT };

/**
 * Waits with the queue's idle strategy until the condition holds. The caller has called gyre_queue_stay, so that no thread
 * frees the queue. `bell` rings when the condition may have changed. OK, TIMEOUT, CLOSED, LOST; the sentence is set for the
 * latter three.
 */
gyre_status gyre_queue_wait(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument,
                            enum gyre_wait_bell bell, uint64_t deadline_ns);

/** The status for a receiver that found no completion and does not wait: CLOSED or LOST if a wait for the condition would
 * end with that status, else AGAIN. */
gyre_status gyre_queue_look(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument);

/** Whether the completion of request `index` is in its slot. A completion of a request that was not sent does not count. */
bool gyre_queue_is_completed(const gyre_queue *queue, uint64_t index);

/** A condition: the completion of index `argument` is there. */
int gyre_wait_reply(const gyre_queue *queue, uint64_t argument);
/** A condition: a receiver at cursor `argument` is held up neither by another receiver's peek nor by a call whose caller has
 * not taken its reply. */
int gyre_wait_turn(const gyre_queue *queue, uint64_t argument);

/** How long a wait for a device that rings no bell sleeps between two looks. */
#define GYRE_NAP_NS UINT64_C(50000)
/** How many looks come before the first nap. They take about as long as falling asleep and waking up, and most completions
 * come sooner. */
#define GYRE_LOOKS_BEFORE_NAPS 100

/** Sleeps for GYRE_NAP_NS, or until the deadline. */
static inline void gyre_nap(uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns();
    const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    const struct timespec duration = {0, (long)(left < GYRE_NAP_NS ? left : GYRE_NAP_NS)};
    if (left)
        nanosleep(&duration, NULL);
}

#endif
