/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting at the cursor, for receivers that take completions in the order of the sends. */
#ifndef GYRE_CORE_QUEUE_CURSOR_H
#define GYRE_CORE_QUEUE_CURSOR_H

#include "core/queue/queue.h"

/** Waits until the cursor, which was `index`, is worth another look. AGAIN without a wait. */
gyre_status gyre_cursor_wait(gyre_queue *queue, uint64_t index, uint64_t deadline_ns);

/**
 * The status for a receiver that found nothing. It sets the sentence if an open peek is the reason; else `status` and
 * the sentence are the wait's.
 */
gyre_status gyre_cursor_tell_nothing(gyre_queue *queue, gyre_status status);

#endif
