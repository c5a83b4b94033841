/* SPDX-License-Identifier: Apache-2.0 */
/* The stage that writes headers beside the slots of requests, in queues whose messages have some. */
#ifndef GYRE_CORE_STAGES_HEADERS_H
#define GYRE_CORE_STAGES_HEADERS_H

#include "core/queue/queue.h"

/** Adds the stage, which has no state of its own. */
void gyre_headers_create(gyre_queue *queue);

/** Fills in what the queue knows of a message that its sender left open. */
void gyre_header_complete(const gyre_queue *queue, gyre_header *header, uint64_t index, uint64_t now_ns);

#endif
