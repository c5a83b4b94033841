/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of slots: how the request in a slot was sent, and whether its caller is done with it (enum gyre_mark). */
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
 * The same without a barrier, for the holder of the consumer lock, and for a sender, which releases its request's sequence
 * after it.
 */
static inline void gyre_mark_set_locked(gyre_queue *queue, uint64_t index, enum gyre_mark mark)
{
    __atomic_store_n(&queue->marks[index & queue->ring.mask], (uint8_t)mark, __ATOMIC_RELEASE);
}

#endif
