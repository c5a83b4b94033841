/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting at one queue until a condition holds. */
#ifndef GYRE_CORE_QUEUE_WAIT_H
#define GYRE_CORE_QUEUE_WAIT_H

#include <time.h>

#include "core/queue/queue.h"
#include "gyre/waiting.h"

/**
 * Whether a wait is over: 1: the awaited thing is there, 0: not yet, -1: it will never come (CLOSED). Called often;
 * must be quick.
 */
typedef int (*gyre_wait_condition)(const gyre_queue *queue, uint64_t argument);

enum gyre_wait_bell { GYRE_BELL_DEVICE, GYRE_BELL_CREDIT };

/**
 * Waits with the queue's idle strategy until the condition holds; the caller stays (gyre_queue_stay). `bell`
 * rings when it may have changed. OK, TIMEOUT, CLOSED, LOST; the sentence is set for the latter three.
 */
gyre_status gyre_queue_wait(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument,
                            enum gyre_wait_bell bell, uint64_t deadline_ns);

/** For a caller that found nothing and does not wait: AGAIN, because no completion is there, or CLOSED or LOST, if a
 * wait for the condition would end so by itself. */
gyre_status gyre_queue_look(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument);

/** A condition: the completion of index `argument` is there. */
int gyre_wait_reply(const gyre_queue *queue, uint64_t argument);
/** A condition: a receiver at cursor `argument` is not held up by another's peek or by a call that did not take its
 * reply. */
int gyre_wait_turn(const gyre_queue *queue, uint64_t argument);

/** How long a wait for a device that rings no bell sleeps between two looks. */
#define GYRE_NAP_NS UINT64_C(50000)
/** Looks before the first such sleep: they take the processor for about as long as going to sleep and waking up do, and
 * most answers come sooner. */
#define GYRE_LOOKS_BEFORE_NAPS 100

/** Sleeps for as long, or until the deadline. */
static inline void gyre_nap(uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns();
    const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    const struct timespec duration = {0, (long)(left < GYRE_NAP_NS ? left : GYRE_NAP_NS)};
    if (left)
        nanosleep(&duration, NULL);
}

#endif
