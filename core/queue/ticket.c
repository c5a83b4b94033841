/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the slot of a ticket (ticket.h). No locks: a message leaves the line only for the ring, so a look at the ring after
 * the look at the line finds the message. */
#include "core/queue/ticket.h"

#include "core/queue/line.h"
#include "core/queue/progress.h"
#include "core/queue/state.h"
#include "core/ring/ring_message.h"

bool gyre_ticket_find(const gyre_queue *queue, uint64_t ticket, uint64_t *index)
{
    const uint64_t end = gyre_queue_next_index(queue);
    for (*index = gyre_received(queue); *index < end; ++*index)
        if (queue->line->ticket(queue, *index) == ticket)
            return true;
    return false;
}

int gyre_wait_ticket(const gyre_queue *queue, uint64_t ticket)
{
    uint64_t index;
    if (gyre_ticket_find(queue, ticket, &index))
        return gyre_reply_ready(&queue->ring, index);
    if (!gyre_queue_closed(queue) || queue->line->waiting(queue))
        return 0;
    /* acquire: a message that left the line before the look at it is found by this second look at the ring */
    return gyre_ticket_find(queue, ticket, &index) ? gyre_reply_ready(&queue->ring, index) : -1;
}
