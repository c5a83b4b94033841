/* SPDX-License-Identifier: Apache-2.0 */
/* Admits requests on their way from a caller into the ring: checks them, and converts them to the form that the ring holds.
 * The caller holds no lock yet. */
#ifndef GYRE_CORE_QUEUE_ADMIT_H
#define GYRE_CORE_QUEUE_ADMIT_H

#include "core/queue/put.h"

/** Whether requests of this size go into the ring unchanged, so that a sender needs none of the functions below. */
static inline bool gyre_queue_is_direct(const gyre_queue *queue, size_t size)
{
    return size == queue->ways.direct_size && size != 0;
}

/** Whether requests of `size` bytes have another form in the ring than callers give them. */
bool gyre_queue_converts(const gyre_queue *queue, size_t size);

/**
 * Checks requests and converts them if needed: when the caller's type and the kernel's type differ, or when a stage (an
 * option of the queue, stage.h) changes messages. Then *converted holds the copies, request_size bytes apart, and
 * `requests` refers to them, perhaps to fewer than before. The caller frees *converted by gyre_queue_recall. INVALID when a
 * request is no message of the caller's type, EXHAUSTED, or the status of a stage.
 */
gyre_status gyre_queue_admit(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                             void **converted);
/** Ends an admission: tells the stages that the admitted requests [first, end) were not sent, and frees the copies
 * `converted`. Accepts NULL. */
void gyre_queue_recall(gyre_queue *queue, void *converted, uint64_t first, uint64_t end);

/** The bytes that this request takes in the ring of bytes (messages stored back to back); 0: it lies in its slot. */
uint64_t gyre_queue_bytes_for(const gyre_queue *queue, const void *request, size_t size);

#endif
