/* SPDX-License-Identifier: Apache-2.0 */
/* Time to live: the stage that takes back requests that no handler took up by their deadline. */
#ifndef GYRE_CORE_STAGES_EXPIRY_H
#define GYRE_CORE_STAGES_EXPIRY_H

#include "core/queue/queue.h"
#include "core/stages/attendant.h"

/** Adds the stage. `ttl_ns`: the time to live of messages without a deadline; 0: such messages never expire. EXHAUSTED. */
gyre_status gyre_expiry_create(gyre_queue *queue, uint64_t ttl_ns);

/** The stage's duty for the queue's attendant: takes back late requests. */
void gyre_expiry_attend(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due);

/**
 * Sets the time to live of later messages without a deadline (0: they never expire), and returns the former one. No
 * effect on a queue without this stage.
 */
uint64_t gyre_expiry_set(gyre_queue *queue, uint64_t ttl_ns);

/** The deadline for a message whose sender gives none: now_ns plus the time to live. 0: the message never expires. */
uint64_t gyre_expiry_deadline(const gyre_queue *queue, uint64_t now_ns);

/**
 * True when the sending thread must look at the headers of requests from `index` on: a request may have a deadline, or may lie
 * in the slot of an earlier request that had a deadline. The caller holds the producer lock.
 */
bool gyre_expiry_looks(const gyre_queue *queue, uint64_t index);

/**
 * Takes back request `index`, which is published or about to be published: no handler will handle the request. No effect on
 * a queue without this stage. The caller holds the producer lock.
 */
void gyre_expiry_take_back(gyre_queue *queue, uint64_t index);

/**
 * The length of request `index`, which is still in its slot. Where a mark (taken back by this stage, to be skipped by the device,
 * answered by a worker that died later) overwrote it in the slot, it is the length before this stage took the request back, else a
 * guess. Never more than the largest request. For a queue without this stage as well.
 */
uint32_t gyre_queue_request_length(const gyre_queue *queue, uint64_t index);

/**
 * The failure that replaces the completion of request `index`, because the request was taken back. NULL: the completion
 * stays as it is. For any thread, and for a queue without this stage as well.
 */
const gyre_failure *gyre_expiry_failure(const gyre_queue *queue, uint64_t index);

#endif
