/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and sets the state of a queue (state.h). No locks: while other threads use the queue, an answer holds only for that
 * moment. */
#include "core/queue/state.h"

#include <limits.h>

#include "core/queue/lent.h"
#include "core/queue/line.h"
#include "core/ring/ring_message.h"
#include "gyre/waiting.h"

uint64_t gyre_queue_next_index(const gyre_queue *queue)
{
    if (queue->foreign.lent)
        gyre_lent_look(queue->foreign.lent);
    return __atomic_load_n(&queue->producer.sent, __ATOMIC_ACQUIRE);
}

uint64_t gyre_queue_next_number(const gyre_queue *queue)
{
    return queue->line ? queue->line->next(queue) : gyre_queue_next_index(queue);
}

uint64_t gyre_queue_outstanding(const gyre_queue *queue)
{
    uint64_t count = 0, end = gyre_queue_next_index(queue);
    for (uint64_t index = gyre_received(queue); index < end; index++)
        count += !gyre_reply_ready(&queue->ring, index);
    return queue->line ? count + queue->line->outstanding(queue) : count;
}

void gyre_queue_misuse(gyre_queue *queue)
{
    __atomic_store_n(&queue->state.misused, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->state.closed, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
    gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
}

void gyre_queue_disown(gyre_queue *queue)
{
    queue->ways.many_threads = false; /* a thread that the child does not have may hold the locks */
    queue->state.disowned = 1;
    queue->state.closed = 1;
}
