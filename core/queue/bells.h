/* SPDX-License-Identifier: Apache-2.0 */
/* Rings the bells (futex words) of a queue: wakes workers that sleep, and threads of this side that wait for room. No
 * locks. */
#ifndef GYRE_CORE_QUEUE_BELLS_H
#define GYRE_CORE_QUEUE_BELLS_H

#include "core/queue/queue.h"

/** Tells parked workers that `count` requests were published. */
void gyre_queue_ring_doorbell(gyre_queue *queue, uint64_t count);

/** Wakes threads that sleep on the credit bell: senders that wait for room, and receivers behind a finished call. */
void gyre_queue_ring_credit(gyre_queue *queue);

/** Tells the stages (options of the queue, stage.h) that room was made or that a sender is about to wait for room. */
void gyre_queue_tell_stages(gyre_queue *queue);

#endif
