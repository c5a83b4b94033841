/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the slot of a message by its ticket, in queues with a line (line.h). */
#ifndef GYRE_CORE_QUEUE_TICKET_H
#define GYRE_CORE_QUEUE_TICKET_H

#include "core/queue/queue.h"

/** The slot of the message with this ticket; false: it is not in the ring. */
bool gyre_ticket_find(const gyre_queue *queue, uint64_t ticket, uint64_t *index);

/** A condition (wait.h): the reply to this ticket is there. */
int gyre_wait_ticket(const gyre_queue *queue, uint64_t ticket);

#endif
