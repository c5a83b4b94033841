/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and sets the marks of slots. A mark says how the request in a slot was sent, and whether its caller is done with it
 * (enum gyre_mark in queue.h). */
#ifndef GYRE_CORE_QUEUE_MARK_H
#define GYRE_CORE_QUEUE_MARK_H

#include "core/queue/queue.h"

static inline uint8_t gyre_mark_get(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&queue->marks[index & queue->ring.mask], __ATOMIC_SEQ_CST);
}

static inline void gyre_mark_set(gyre_queue *queue, uint64_t index, enum gyre_mark mark)
{
    __atomic_store_n(&queue->marks[index & queue->ring.mask], (uint8_t)mark, __ATOMIC_SEQ_CST);
}

/**
 * As gyre_mark_set, without a full barrier: for the holder of the consumer lock, and for a sender, which stores its
 * request's sequence with release afterwards.
 */
static inline void gyre_mark_set_locked(gyre_queue *queue, uint64_t index, enum gyre_mark mark)
{
    __atomic_store_n(&queue->marks[index & queue->ring.mask], (uint8_t)mark, __ATOMIC_RELEASE);
}

#endif
