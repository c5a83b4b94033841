/* SPDX-License-Identifier: Apache-2.0 */
/* The stage that measures when messages are sent, handled and received, for kernels that were compiled to stamp messages. */
#ifndef GYRE_CORE_STAGES_TIMING_H
#define GYRE_CORE_STAGES_TIMING_H

#include "core/queue/queue.h"
#include "gyre/observe.h"
#include "gyre/trace.h"

/** Adds the stage. Messages whose index is a multiple of `every`, a power of two, are timed; 0 is as 1. EXHAUSTED. */
gyre_status gyre_timing_create(gyre_queue *queue, uint32_t every);
/** What the stage was made with; 0: the queue does not time its messages. */
uint64_t gyre_timing_every(const gyre_queue *queue);

/**
 * Copies how long the queue's messages took, and leaves `record` as it is. False: the queue does not time its messages. Any
 * thread.
 */
bool gyre_timing_histograms(const gyre_queue *queue, gyre_observe_histogram out[GYRE_OBSERVE_TIMES]);

/** From here on receipts of timed messages are noted in `trace`, while that is wanted, as those of queue `record`. Nothing happens in a
 * queue that does not time its messages. */
void gyre_timing_trace(gyre_queue *queue, gyre_trace *trace, uint32_t record);

#endif
