/* SPDX-License-Identifier: Apache-2.0 */
/* Sending on a queue with a detour: line.h. One message at a time. */
#ifndef GYRE_CORE_QUEUE_POST_H
#define GYRE_CORE_QUEUE_POST_H

#include "core/queue/put.h"

/**
 * Sends the first of `request`, which is of the kernel's type. As gyre_send, and DROPPED when its id is known. *inside as
 * in gyre_queue_stay.
 */
gyre_status gyre_queue_post(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                            uint64_t *index, uint64_t deadline_ns, bool *inside);
/** The same for all of `requests`, of the caller's type. */
gyre_status gyre_queue_post_batch(gyre_queue *queue, const struct gyre_outgoing *requests,
                                  struct gyre_sent *sent, uint64_t deadline_ns);

#endif
