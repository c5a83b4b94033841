/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes care of a queue's requests after the death of its device: finds the unanswered requests, and prepares them for the
 * next device. core/recovery decides what happens and calls these functions.
 *
 * Between the death of one device and the start of the next the host alone writes to the ring; functions marked
 * "no device" are called only then. Clients go on sending and receiving meanwhile. Several device workers answer out of
 * order, so there may be answered requests behind the first unanswered one.
 */
#ifndef GYRE_CORE_QUEUE_RESUME_H
#define GYRE_CORE_QUEUE_RESUME_H

#include "core/queue/queue.h"

/**
 * The first index without a completion; a request of that index need not have been sent yet. Where the device is another
 * process, completions of requests that were not sent do not count.
 */
uint64_t gyre_queue_first_unanswered(const gyre_queue *queue);
/**
 * The index behind the last request that has a completion; where no request without one comes before it, and so none was overtaken, the first
 * unanswered one.
 */
uint64_t gyre_queue_end_of_overtaken(const gyre_queue *queue);
/** The first index from `index` on without a completion. */
uint64_t gyre_queue_next_unanswered(const gyre_queue *queue, uint64_t index);
/** How many requests below `end` were sent and have no completion. The count stops at `most`. */
uint64_t gyre_queue_count_unanswered(const gyre_queue *queue, uint64_t end, uint64_t most);

/** No device: marks answered requests, so that the next device skips them and leaves their completions alone. */
void gyre_queue_mark_answered(gyre_queue *queue);
/**
 * No device: marks only answered requests for which no handler ran, and answered queries (requests whose handler changes no
 * state). For a handler that keeps state and takes one request after the other. The next device begins at the first
 * unanswered request, handles all later unmarked requests once more, in their order, and writes their replies again.
 */
void gyre_queue_mark_settled(gyre_queue *queue);
/** Whether a handler ran for request `index`, which is completed. */
bool gyre_queue_was_handled(const gyre_queue *queue, uint64_t index);
/**
 * No device: writes this side's words in the first lines of the region again, because a worker may have overwritten them.
 * Does nothing for a queue whose client is another program.
 */
void gyre_queue_renew(gyre_queue *queue);
/** Whether a worker overwrote the slot of request `index`, which was sent: the slot no longer has the request's sequence. */
bool gyre_queue_is_damaged(const gyre_queue *queue, uint64_t index);
/**
 * No device: fails the unanswered requests whose slots a worker has overwritten, because no device would ever find them.
 * Marks all overwritten slots, so that the next device passes over them. Returns how many requests failed. Does nothing
 * for a queue whose client is another program.
 */
uint64_t gyre_queue_fail_damaged(gyre_queue *queue);
/** No device: sets the index at which workers begin to claim requests. */
void gyre_queue_set_claim(gyre_queue *queue, uint64_t index);
/** No device: completes a request as failed. */
void gyre_queue_fail(gyre_queue *queue, uint64_t index, int32_t code, const char *text);

/**
 * Hides a request that was sent, so that a device stops before it; gyre_queue_show makes it visible again, unchanged. The
 * device must not have reached the request, and the request must be unanswered, because the slot of an answered request may
 * already hold a later request.
 */
void gyre_queue_hide(gyre_queue *queue, uint64_t index);
void gyre_queue_show(gyre_queue *queue, uint64_t index);

/**
 * No device: sets the rings of reply bytes up for the next device; only the bytes of existing completions stay in use. Does
 * nothing for a queue whose replies lie in their slots.
 */
void gyre_queue_resume_bytes(gyre_queue *queue);

#endif
