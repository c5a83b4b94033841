/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows when a device took the requests of a queue that enters a pipeline, as far as the queue's log (log.h) has them. So requests of
 * several queues are handled again in the order in which they were taken. A device writes these times into the flows of its pipeline,
 * which are cleared for the next one: they are noted before. Times are what a worker process says: they decide on an order, and on
 * nothing else.
 *
 * Threads: as log.h.
 */
#ifndef GYRE_CORE_STAGES_TAKEN_H
#define GYRE_CORE_STAGES_TAKEN_H

#include "core/queue/queue.h"
#include "gyre/link_layout.h"

/** Gives the queue's log the times that are in `flows`, one for each slot, which outlive the log. EXHAUSTED. */
gyre_status gyre_taken_create(gyre_queue *queue, const gyre_flow *flows);
/** Keeps what the flows say, which are about to be cleared. No device runs. Does nothing where the log has no times. */
void gyre_taken_note(const gyre_queue *queue);
/**
 * Forgets when requests without a completion were taken: they are about to be taken again, and later ones of other queues perhaps before.
 * No device runs that has the queue.
 */
void gyre_taken_forget(const gyre_queue *queue);
/** When request `index` was taken, never later than now; 0: it was not, or nobody knows. No device runs. Beside senders. */
uint64_t gyre_taken_ns(const gyre_queue *queue, uint64_t index);

#endif
