/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a queue that are handled again by another queue, since the device that had them died: what both queues have to do with it. No
 * locks; no device has the queue that a call changes, unless it says so.
 */
#ifndef GYRE_CORE_STAGES_AGAIN_H
#define GYRE_CORE_STAGES_AGAIN_H

#include "core/stages/log.h"

/** Drops the messages that a dead device left in a queue by which requests are handled again. */
void gyre_again_empty(gyre_queue *queue);
/**
 * Copies a request that is sent and has no completion, without its deadline: it was sent in time. Its slot is its own until then. A query is
 * copied as any request. False: it was taken back, or its seal or its length is wrong, so that it is failed and not handled again. No
 * device has the queue.
 */
bool gyre_again_read(gyre_queue *queue, uint64_t index, struct gyre_logged_request *request);
/**
 * Completes request `index` of `to`, which has no completion, as request `again` of `from` was. Devices may have both queues. `from` has
 * messages of the same types.
 */
void gyre_again_hand_over(const gyre_queue *from, uint64_t again, gyre_queue *to, uint64_t index);

#endif
