/* SPDX-License-Identifier: Apache-2.0 */
/* Waits at the cursor (the index of the next completion to receive), for receivers that take completions in the order of
 * the sends. Receiving itself is in receive.c and peek.c. */
#ifndef GYRE_CORE_QUEUE_CURSOR_H
#define GYRE_CORE_QUEUE_CURSOR_H

#include "core/queue/queue.h"

/** Waits until a completion may be at the cursor, which was `index`. AGAIN when the deadline asks for no wait. */
gyre_status gyre_cursor_wait(gyre_queue *queue, uint64_t index, uint64_t deadline_ns);

/**
 * The status for a receiver that found nothing; `status` is the result of its wait. Sets a sentence of its own if an open
 * peek (views that were not released) is the reason; else leaves the status and the sentence of the wait.
 */
gyre_status gyre_cursor_tell_nothing(gyre_queue *queue, gyre_status status);

#endif
