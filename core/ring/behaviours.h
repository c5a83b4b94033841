/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a queue may do with its messages besides carrying them, each by its own key of the configuration and
 * all of it on this side of the ring: devices know nothing of it. A queue without a behaviour has a NULL in
 * its place, and its messages come here only when they failed.
 *
 *   letters    messages that nobody will handle any more, kept for somebody to look at
 *   expiry     messages that are not handled by their deadline are taken back
 *
 * Locks: each file says its own. None is taken before the queue's locks and given after them.
 */
#ifndef GYRE_CORE_RING_BEHAVIOURS_H
#define GYRE_CORE_RING_BEHAVIOURS_H

#include "core/ring/queue.h"

/* ---- queue_letters.c ---- */

/** At most `limit` letters; 0: none are kept. EXHAUSTED. */
gyre_status gyre_queue_letters_create(gyre_queue *queue, uint64_t limit);
/** Accepts a queue without. */
void gyre_queue_letters_destroy(gyre_queue *queue);
/**
 * The completion of `index`, a failure, is being taken: keeps the request when its failure says that nobody
 * handled it. By who takes the completion, once.
 */
void gyre_queue_bury(gyre_queue *queue, uint64_t index);
void gyre_queue_letters_stats(const gyre_queue *queue, gyre_queue_stats *stats);
/** Ends the waits for letters: none will come. */
void gyre_queue_letters_close(gyre_queue *queue);

/* ---- queue_expiry.c ---- */

/** `ttl_ns`: of messages that name no deadline; 0: these do not expire. EXHAUSTED. */
gyre_status gyre_queue_expiry_create(gyre_queue *queue, uint64_t ttl_ns);
void gyre_queue_expiry_destroy(gyre_queue *queue);
/** Messages without a deadline do not expire after all. Nothing for a queue whose messages never do. */
void gyre_queue_expiry_never(gyre_queue *queue);
/** The deadline of a message without one. */
uint64_t gyre_queue_expiry_deadline(const gyre_queue *queue, uint64_t now_ns);
/** Request `index` is about to be published; `deadline_ns` 0: it has none. The producer lock is held. */
void gyre_queue_expiry_sent(gyre_queue *queue, uint64_t index, uint64_t deadline_ns);
/** Takes back what is late, and returns the next deadline (UINT64_MAX: none). The producer lock is held. */
uint64_t gyre_queue_expiry_sweep(gyre_queue *queue, uint64_t now_ns);
/** A failure that came of taking the message back is made to say so. By who looks at the completion. */
void gyre_queue_expiry_settle(const gyre_queue *queue, uint64_t index);

/* ---- queue_attendant.c: the thread that does what is due at a time ---- */

gyre_status gyre_queue_attendant_create(gyre_queue *queue);
void gyre_queue_attendant_destroy(gyre_queue *queue);
/** Something is due at `when_ns`. The producer lock is held. */
void gyre_queue_attendant_expect(gyre_queue *queue, uint64_t when_ns);

#endif
