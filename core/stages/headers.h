/* SPDX-License-Identifier: Apache-2.0 */
/* The stage that writes headers beside the slots of requests, in queues whose messages have headers. */
#ifndef GYRE_CORE_STAGES_HEADERS_H
#define GYRE_CORE_STAGES_HEADERS_H

#include "core/queue/queue.h"

/** Adds the stage, which has no state of its own. */
void gyre_headers_create(gyre_queue *queue);

/** Fills in the fields of a header that the sender left 0 and that the queue knows. */
void gyre_header_complete(const gyre_queue *queue, gyre_header *header, uint64_t index, uint64_t now_ns);

/**
 * Announces to the device that requests from now on are stamped with the present time, or later. Takes the producer lock, which
 * the queue has (gyre_queue_expect_threads), and rings the device's bell. Any thread.
 */
void gyre_headers_tick(gyre_queue *queue);

#endif
