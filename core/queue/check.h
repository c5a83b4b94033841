/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a caller's requests and headers. Each sets the error; no locks. */
#ifndef GYRE_CORE_QUEUE_CHECK_H
#define GYRE_CORE_QUEUE_CHECK_H

#include "core/queue/queue.h"

/** Whether the kernel's request is gyre_none. Such a request takes no bytes in the ring; senders may give 0 bytes, or the
 * one byte that the C type has. */
static inline bool gyre_queue_takes_nothing(const gyre_queue *queue)
{
    return queue->ring.request_size == 0;
}

/** INVALID unless each of `count` requests, `size` bytes apart, is a message that the queue takes. */
gyre_status gyre_queue_check_requests(const gyre_queue *queue, const void *requests, size_t size,
                                      size_t count);
/** INVALID unless a request with a tail is a message that the queue takes. `number`: its number in the caller's batch. */
gyre_status gyre_queue_check_tail(const gyre_queue *queue, const void *request, size_t size, size_t number);

/** INVALID unless the queue's headers hold every field that is not 0; TIMEOUT when the deadline has passed. */
gyre_status gyre_queue_check_header(const gyre_queue *queue, const gyre_header *header);

#endif
