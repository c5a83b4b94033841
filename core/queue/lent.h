/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a lent queue, whose client is another program. The client maps the region, has a gyre_queue of its own on it, and
 * alone decides when to send and receive.
 *
 * This program reads the client's progress from the slots: request slots say which requests were sent, reply slots which
 * requests were answered. The client may write anything into either. So every number that this file yields is bounded
 * (`sent` is between `received` and `received` + capacity). A client that lies harms only its own messages.
 */
#ifndef GYRE_CORE_QUEUE_LENT_H
#define GYRE_CORE_QUEUE_LENT_H

#include "core/queue/queue.h"

struct gyre_lent {
    gyre_queue *queue;
    int notice;     /* eventfd: readable when sends were closed, and again at the end */
    uint32_t ended; /* atomic: the device has left, and all requests that this program saw are completed */
    uint64_t limit; /* atomic: requests from this index on came after sends were closed */
};

gyre_status gyre_lent_create(gyre_queue *queue);
/** Frees the queue's gyre_lent. Accepts a queue that is not lent. */
void gyre_lent_destroy(gyre_queue *queue);

/** Reads the slots and updates the queue's `sent` (every request below is published) and `received` (every request below is
 * answered). Any thread. */
void gyre_lent_look(struct gyre_lent *lent);

/** Tells the thread that talks to the client that sends were closed. */
void gyre_lent_tell(gyre_queue *queue);
/** Tells the thread that talks to the client that the device has left for good and unanswered requests are completed. */
void gyre_lent_end(gyre_queue *queue);

/** Called in the client: asks the program that serves the queue to ring its kernel's doorbell. */
void gyre_lent_ring(int doorbell);

#endif
