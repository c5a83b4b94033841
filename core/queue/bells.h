/* SPDX-License-Identifier: Apache-2.0 */
/* Waking the other side: workers that sleep, and threads of this side that wait for room. No locks. */
#ifndef GYRE_CORE_QUEUE_BELLS_H
#define GYRE_CORE_QUEUE_BELLS_H

#include "core/queue/queue.h"

/** Tells parked workers that `count` requests were published. */
void gyre_queue_ring_doorbell(gyre_queue *queue, uint64_t count);

/** Tells threads that sleep on the credit bell that something changed. */
void gyre_queue_ring_credit(gyre_queue *queue);

/** Room was made, or a sender is about to wait for it: tells the stages that have to know. */
void gyre_queue_tell_stages(gyre_queue *queue);

#endif
