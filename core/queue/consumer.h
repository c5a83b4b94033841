/* SPDX-License-Identifier: Apache-2.0 */
/* How many completions a receiver may take from the cursor on, and how a thread leaves the side of the receivers (side.h). */
#ifndef GYRE_CORE_QUEUE_CONSUMER_H
#define GYRE_CORE_QUEUE_CONSUMER_H

#include "core/queue/side.h"

/** The slow way of gyre_consumer_most, for when the last known value of `sent` is too low: reads the value anew. */
size_t gyre_consumer_most_anew(gyre_queue *queue, size_t count);

/** Under the lock: how many completions, at most `count`, a receiver may take from the cursor on, if they are there. Fewer
 * than `count` only where the device is another process, which may have completed requests that were not sent. */
static inline size_t gyre_consumer_most(gyre_queue *queue, size_t count)
{
    const uint64_t room = queue->consumer.sent_seen - queue->consumer.received;
    return __builtin_expect(count <= room, 1) ? count : gyre_consumer_most_anew(queue, count);
}

/** Gives the consumer's side back: steps over finished calls, unlocks, and wakes threads that wait for room. */
void gyre_consumer_give(gyre_queue *queue);

#endif
