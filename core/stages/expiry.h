/* SPDX-License-Identifier: Apache-2.0 */
/* Time to live: the stage that takes back requests that no handler took up by their deadline. */
#ifndef GYRE_CORE_STAGES_EXPIRY_H
#define GYRE_CORE_STAGES_EXPIRY_H

#include "core/queue/queue.h"
#include "core/stages/attendant.h"

/** Adds the stage. `ttl_ns`: the time to live of messages that name no deadline; 0: these do not expire. EXHAUSTED. */
gyre_status gyre_expiry_create(gyre_queue *queue, uint64_t ttl_ns);

/** The stage's duty for the queue's attendant: takes back late requests. */
void gyre_expiry_attend(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due);

/**
 * From now on messages without a deadline live for `ttl_ns`, 0: they do not expire; returns the former value. Does
 * nothing for a queue whose messages never expire.
 */
uint64_t gyre_expiry_set(gyre_queue *queue, uint64_t ttl_ns);

/** The deadline of a message without one; 0 as well where messages never expire. */
uint64_t gyre_expiry_deadline(const gyre_queue *queue, uint64_t now_ns);

/**
 * Whether headers of requests from `index` on need a look, because a request may have a deadline or lie in the slot of
 * an earlier request that had one. Producer lock.
 */
bool gyre_expiry_looks(const gyre_queue *queue, uint64_t index);

/**
 * Takes request `index` back, which is published or about to be: no handler will handle it. Does nothing for a queue
 * whose messages never expire. The producer lock is held.
 */
void gyre_expiry_take_back(gyre_queue *queue, uint64_t index);

/**
 * The failure that replaces a request's completion, because the request was taken back; NULL: the completion stays as
 * it is. Any thread, and any queue.
 */
const gyre_failure *gyre_expiry_failure(const gyre_queue *queue, uint64_t index);

#endif
