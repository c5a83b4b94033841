/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the slot of a message by its ticket (its number in the order of the sends), in queues with a line in front of the
 * ring (line.h). */
#ifndef GYRE_CORE_QUEUE_TICKET_H
#define GYRE_CORE_QUEUE_TICKET_H

#include "core/queue/queue.h"

/** Finds the index of the message with this ticket in the ring; false: the message is not in the ring. */
bool gyre_ticket_find(const gyre_queue *queue, uint64_t ticket, uint64_t *index);

/** A condition to wait for (wait.h): the completion of the message with this ticket is in the ring. */
int gyre_wait_ticket(const gyre_queue *queue, uint64_t ticket);

#endif
