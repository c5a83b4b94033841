/* SPDX-License-Identifier: Apache-2.0 */
/* Tells how far a queue has come (progress.h). A queue that is lent to another program is looked at first, because that program
 * sends and receives without a call here. */
#include "core/queue/progress.h"

#include "core/queue/lent.h"
#include "core/queue/line.h"
#include "core/queue/state.h"
#include "core/ring/ring_message.h"

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
