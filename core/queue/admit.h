/* SPDX-License-Identifier: Apache-2.0 */
/* Requests on their way from a caller into the ring: checked, and converted to the form that the ring holds. Before any
 * lock. */
#ifndef GYRE_CORE_QUEUE_ADMIT_H
#define GYRE_CORE_QUEUE_ADMIT_H

#include "core/queue/put.h"

/** Whether requests of that size go into the ring as they are, one at a time or many, without the functions below. */
static inline bool gyre_queue_is_direct(const gyre_queue *queue, size_t size)
{
    return size == queue->ways.direct_size && size != 0;
}

/** Whether requests of `size` bytes look different in the ring than callers give them. */
bool gyre_queue_converts(const gyre_queue *queue, size_t size);

/**
 * Checks requests. Where the caller's type is another one than the kernel's, or a stage moves parts of messages,
 * `requests` names *converted afterwards: copies, request_size bytes apart, perhaps of fewer. Owner of *converted:
 * gyre_queue_recall. INVALID for a request that is no message of the caller's type, EXHAUSTED, or the status of a
 * stage.
 */
gyre_status gyre_queue_admit(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                             void **converted);
/** The end of an admission: requests [first, end) were not sent after all. Frees the copies; accepts NULL. */
void gyre_queue_recall(gyre_queue *queue, void *converted, uint64_t first, uint64_t end);

/** Bytes that a request with a tail, or one of another size, takes in the ring of bytes. */
uint64_t gyre_queue_bytes_for(const gyre_queue *queue, const void *request, size_t size);

#endif
