/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a queue, for a while or for good: refuses sends, ends waits, and completes the requests that no device will handle.
 * life.h frees a queue. */
#ifndef GYRE_CORE_QUEUE_END_H
#define GYRE_CORE_QUEUE_END_H

#include "core/queue/queue.h"

/** Refuses sends from now on and wakes all waiting threads. */
void gyre_queue_close_sends(gyre_queue *queue);

/** Accepts sends again after gyre_queue_close_sends. */
void gyre_queue_reopen(gyre_queue *queue);

/** Tells a client's queue that the program that serves it is gone: every wait, now and later, ends with LOST unless a reply
 * is there. */
void gyre_queue_orphan(gyre_queue *queue);

/**
 * Closes a queue for good because its handler does not return. The queue can be neither completed nor freed, because the
 * handler may still write into it. Every wait, now and later, ends with CLOSED unless a reply is there.
 */
void gyre_queue_abandon(gyre_queue *queue);

/**
 * Called while sends are closed, before another device takes over: returns the first index that the new device has to
 * handle. It also completes requests that enter the ring from now on.
 */
uint64_t gyre_queue_rewind(gyre_queue *queue);

/**
 * Completes every request that has no completion as UNHANDLED and returns how many there were. Sends are
 * closed and the device has left: the caller is the only writer of replies.
 */
uint64_t gyre_queue_complete_unhandled(gyre_queue *queue);

/** Completes one request as UNHANDLED. It has no completion, and the caller has already counted it. */
void gyre_queue_complete_one(gyre_queue *queue, uint64_t index);

#endif
