/* SPDX-License-Identifier: Apache-2.0 */
/* How a queue stops taking messages, for a while or for good, and what becomes of the messages that it holds then. */
#ifndef GYRE_CORE_QUEUE_END_H
#define GYRE_CORE_QUEUE_END_H

#include "core/queue/queue.h"

/** Refuses sends from now on and wakes all waiting threads. */
void gyre_queue_close_sends(gyre_queue *queue);

/** Accepts sends again after gyre_queue_close_sends. */
void gyre_queue_reopen(gyre_queue *queue);

/** The program that serves the queue is gone: every wait, now and later, ends with LOST unless a reply is there. */
void gyre_queue_orphan(gyre_queue *queue);

/**
 * For a queue that cannot be completed or freed, because a handler that does not return may still write into
 * it: closes it and lets every wait, now and later, end with CLOSED unless a reply is there.
 */
void gyre_queue_abandon(gyre_queue *queue);

/**
 * Before another device comes, while sends are closed: returns the first index that it has to handle. The device completes
 * requests that are put into the ring from now on.
 */
uint64_t gyre_queue_rewind(gyre_queue *queue);

/**
 * Completes every request that has no completion as UNHANDLED and returns how many there were. Sends are
 * closed and the device has left: the caller is the only writer of replies.
 */
uint64_t gyre_queue_complete_unhandled(gyre_queue *queue);

/** The same for one request, which has no completion and is counted already. */
void gyre_queue_complete_one(gyre_queue *queue, uint64_t index);

#endif
