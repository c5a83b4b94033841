/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker finds in the region of a queue. */
#ifndef GYRE_CPU_QUEUE_H
#define GYRE_CPU_QUEUE_H

#include "backends/cpu/cpu_resident.h"

/** Fills in a worker's view of a queue whose region, slots and layout are known. */
void cpu_queue_open(struct cpu_worker *worker, struct cpu_queue *queue);

/** The words of a queue whose messages lie back to back. */
static inline gyre_bridge_words *cpu_queue_words(const struct cpu_queue *queue)
{
    return (gyre_bridge_words *)(void *)((unsigned char *)queue->region + queue->layout.words_offset);
}

/** Returns the block's track (its part of the reply bytes); track and block have the same number. */
static inline gyre_bridge_track *cpu_queue_track(const struct cpu_queue *queue, uint32_t block)
{
    return (gyre_bridge_track *)(void *)(cpu_queue_words(queue) + 1) + block;
}

#endif
