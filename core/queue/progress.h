/* SPDX-License-Identifier: Apache-2.0 */
/* Tells how far a queue has come. No locks: while other threads use the queue, an answer holds only for that moment. */
#ifndef GYRE_CORE_QUEUE_PROGRESS_H
#define GYRE_CORE_QUEUE_PROGRESS_H

#include "core/queue/state.h"

/** The index that the next send will take. */
uint64_t gyre_queue_next_index(const gyre_queue *queue);

/** The number that gyre.h gives to the next request sent: its ticket in a queue with a line (line.h), else its index. */
uint64_t gyre_queue_next_number(const gyre_queue *queue);

/** How many requests were accepted and are not completed yet. */
uint64_t gyre_queue_outstanding(const gyre_queue *queue);

#endif
