/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue whose client is another program, which has the region, its own gyre_queue on it, and all the
 * credit.
 *
 * This program reads the client's indices off the slots: request slots say which requests were sent, reply slots which
 * were answered. The client may write anything into either. So every number that comes out of here is bounded (`sent`
 * is between `received` and `received` + capacity), and a client that lies is wrong about its own messages and nobody
 * else's.
 */
#ifndef GYRE_CORE_QUEUE_LENT_H
#define GYRE_CORE_QUEUE_LENT_H

#include "core/queue/queue.h"

struct gyre_lent {
    gyre_queue *queue;
    int notice;     /* eventfd: readable when sends were closed, and again at the end */
    uint32_t ended; /* atomic: the device has left, and everything that was seen is completed */
    uint64_t limit; /* atomic: requests from here on were sent after sends had been closed */
};

gyre_status gyre_lent_create(gyre_queue *queue);
/** Accepts a queue that is not lent. */
void gyre_lent_destroy(gyre_queue *queue);

/** Brings the queue's `sent` (all that is known to be published) and `received` (all below it is answered) up
 * to date. Any thread. */
void gyre_lent_look(struct gyre_lent *lent);

/** Sends were closed: tells the thread that speaks with the client. */
void gyre_lent_tell(gyre_queue *queue);
/** The device has left for good, and unanswered requests are completed. */
void gyre_lent_end(gyre_queue *queue);

/** The client's side: asks the program that serves to ring its kernel's doorbell. */
void gyre_lent_ring(int doorbell);

#endif
