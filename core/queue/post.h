/* SPDX-License-Identifier: Apache-2.0 */
/* Sends on a queue with a detour: messages pass a line or a table of ids before the ring (line.h). One message at a time.
 * Other queues use put.h. */
#ifndef GYRE_CORE_QUEUE_POST_H
#define GYRE_CORE_QUEUE_POST_H

#include "core/queue/put.h"

/**
 * Sends the first request of `request`, which is of the kernel's type. Waits and fails as gyre_send; DROPPED when a message
 * with the same id was sent before. *inside: as in gyre_queue_stay.
 */
gyre_status gyre_queue_post(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                            uint64_t *index, uint64_t deadline_ns, bool *inside);
/** Sends all requests of `requests`, which are of the caller's type. Waits and fails as gyre_queue_post. */
gyre_status gyre_queue_post_batch(gyre_queue *queue, const struct gyre_outgoing *requests,
                                  struct gyre_sent *sent, uint64_t deadline_ns);

#endif
