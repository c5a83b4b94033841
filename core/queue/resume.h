/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue's requests after the death of its device: the unanswered ones are found, and shown to the next device.
 *
 * Between the death of one device and the start of the next the host is the only writer of everything; functions marked
 * "no device" are called only then. Clients go on sending and receiving meanwhile. Several device workers answer out of
 * order, so there may be answered requests behind the first unanswered one.
 */
#ifndef GYRE_CORE_QUEUE_RESUME_H
#define GYRE_CORE_QUEUE_RESUME_H

#include "core/queue/queue.h"

/** The first index without a completion; a request of that index need not have been sent yet. */
uint64_t gyre_queue_first_unanswered(const gyre_queue *queue);
/** The first index from `index` on without a completion. */
uint64_t gyre_queue_next_unanswered(const gyre_queue *queue, uint64_t index);
/** How many of the requests sent below `end` have no completion, counted no further than `most`. */
uint64_t gyre_queue_count_unanswered(const gyre_queue *queue, uint64_t end, uint64_t most);

/** No device: tells the next one which requests are answered, so that it leaves their completions alone. */
void gyre_queue_mark_answered(gyre_queue *queue);
/**
 * No device: tells the next one only of answered requests for which no handler ran, and of answered queries. For a
 * handler that keeps state and takes one request after the other: it begins at the first unanswered request, handles
 * all requests behind it once more, in their order, and writes again the replies that are there.
 */
void gyre_queue_mark_settled(gyre_queue *queue);
/** Whether a handler ran for a request that is completed. */
bool gyre_queue_was_handled(const gyre_queue *queue, uint64_t index);
/**
 * No device: writes this side's words in the region's lines again, because a worker may have overwritten them. Does
 * nothing for a queue whose client is another program.
 */
void gyre_queue_renew(gyre_queue *queue);
/** Whether a worker overwrote the slot of a request that was sent: its sequence is no more the request's. */
bool gyre_queue_is_damaged(const gyre_queue *queue, uint64_t index);
/**
 * No device: fails the unanswered requests whose slots a worker has overwritten, because no device would ever find
 * them, and lets the next one pass over all that are damaged. Returns how many failed. Nothing for a queue whose
 * client is another program.
 */
uint64_t gyre_queue_fail_damaged(gyre_queue *queue);
/** No device: a worker that is to claim requests begins at this index. */
void gyre_queue_set_claim(gyre_queue *queue, uint64_t index);
/** No device: completes a request as failed. */
void gyre_queue_fail(gyre_queue *queue, uint64_t index, int32_t code, const char *text);

/**
 * Makes a request that was sent look as if it had not been, so that a device stops before it; the device must
 * not have come so far, and nobody have answered it, as its place may be another one's then. Shown again, it is
 * as it was.
 */
void gyre_queue_hide(gyre_queue *queue, uint64_t index);
void gyre_queue_show(gyre_queue *queue, uint64_t index);

/**
 * No device: sets the rings of reply bytes up for the next one, which finds only completions that are there in use. Nothing
 * for a queue whose replies lie in their slots.
 */
void gyre_queue_resume_bytes(gyre_queue *queue);

#endif
