/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a queue may do with its messages besides carrying them, each by its own key of the configuration and
 * all of it on this side of the ring: devices know nothing of it. A queue without a behaviour has a NULL in
 * its place, and its messages come here only when they failed.
 *
 *   letters    messages that nobody will handle any more, kept for somebody to look at
 *   expiry     messages that are not handled by their deadline are taken back
 *   known      messages whose id was sent already are not sent again
 *   levels     messages wait in front of the ring by their priority
 *
 * The last two are at work before a message is in the ring: sends on such a queue (queue->detour) are posted.
 *
 * Locks: each file says its own. None is taken before the queue's locks and given after them. Where it says the
 * producer lock, the attendant takes it as well: a kernel that has ended does not stop it.
 */
#ifndef GYRE_CORE_STAGES_BEHAVIOURS_H
#define GYRE_CORE_STAGES_BEHAVIOURS_H

#include "core/queue/queue_inside.h"

/* ---- letters.c ---- */

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

/* ---- expiry.c ---- */

/** `ttl_ns`: of messages that name no deadline; 0: these do not expire. EXHAUSTED. */
gyre_status gyre_queue_expiry_create(gyre_queue *queue, uint64_t ttl_ns);
void gyre_queue_expiry_destroy(gyre_queue *queue);
/** From now on messages without a deadline have so long, 0: they do not expire; returns what it was. Nothing for a queue whose
 * messages never expire. */
uint64_t gyre_queue_expiry_set(gyre_queue *queue, uint64_t ttl_ns);
/** The deadline of a message without one. */
uint64_t gyre_queue_expiry_deadline(const gyre_queue *queue, uint64_t now_ns);
/** Request `index` is about to be published; `deadline_ns` 0: it has none. The producer lock is held. */
void gyre_queue_expiry_sent(gyre_queue *queue, uint64_t index, uint64_t deadline_ns);
/** Whether requests from `index` on have to be made known
 * here though they have no deadline. Producer lock. */
bool gyre_queue_expiry_used(const gyre_queue *queue, uint64_t index);
/** Request `index`, published or about to be, is not to be handled. The producer lock is held. */
void gyre_queue_expiry_take_back(gyre_queue *queue, uint64_t index);
/** Takes back what is late, and returns the next deadline (UINT64_MAX: none). The producer lock is held. */
uint64_t gyre_queue_expiry_sweep(gyre_queue *queue, uint64_t now_ns);
/** What a failed reply has to say instead, because it came of taking the message back; NULL: it stays as it is. Any
 * thread, also of queues whose messages never expire. */
const gyre_failure *gyre_queue_expiry_failure(const gyre_queue *queue, uint64_t index);
/** Such a failure is made to say so. By who looks at the completion. */
void gyre_queue_expiry_settle(const gyre_queue *queue, uint64_t index);

/* ---- known.c; under the producer lock ---- */

gyre_status gyre_queue_known_create(gyre_queue *queue, uint32_t window);
void gyre_queue_known_destroy(gyre_queue *queue);
bool gyre_queue_knows(const gyre_queue *queue, uint64_t id);
/** From now on, until `window` others came. */
void gyre_queue_know(gyre_queue *queue, uint64_t id);

/* ---- levels.c ---- */

gyre_status gyre_queue_levels_create(gyre_queue *queue, const struct gyre_queue_options *options);
void gyre_queue_levels_destroy(gyre_queue *queue);
/** Takes a message in, and gives it a ticket, which is what senders and receivers call its index. False:
 * there is no place. The producer lock is held, here and in the next five. */
bool gyre_queue_levels_push(gyre_queue *queue, const void *request, size_t size, const gyre_header *header,
                            enum gyre_mark mark, uint64_t *ticket);
/** Moves messages into the ring as far as its window allows; returns how many. */
uint64_t gyre_queue_levels_pump(gyre_queue *queue);
/** Nobody waits for the reply to this ticket, if it is not in the ring yet. */
void gyre_queue_levels_abandon(gyre_queue *queue, uint64_t ticket);
/** Nobody handles messages any more: those that wait are unhandled, and remain so whoever comes. Returns how
 * many were not before. Sends are closed and the device has left. */
uint64_t gyre_queue_levels_end(gyre_queue *queue);
/** A device will handle what is put into the ring from now on. */
void gyre_queue_levels_begin(gyre_queue *queue);
/** The first request in the ring that was not answered when somebody looked last. */
uint64_t gyre_queue_levels_answered(const gyre_queue *queue);
/** As pump, for who has no lock; rings whoever has to know. */
void gyre_queue_levels_move(gyre_queue *queue);
/** Messages in front of the ring; of these, those that are to be handled; the ticket of the next one. Any
 * thread. */
uint64_t gyre_queue_waiting(const gyre_queue *queue);
uint64_t gyre_queue_levels_outstanding(const gyre_queue *queue);
uint64_t gyre_queue_levels_sent(const gyre_queue *queue);
/**
 * Whether a message with this correlation that receivers may take waits in front of the ring; of several, the
 * ticket of the one that was sent first. Takes the producer lock. Messages leave that place for the ring alone: who
 * did not see one here finds it there, if it looks there afterwards.
 */
bool gyre_queue_levels_find(gyre_queue *queue, uint64_t correlation, uint64_t *ticket);
/** Whether the message in a slot of the ring ended before it came there. */
bool gyre_queue_levels_over(const gyre_queue *queue, uint64_t index);
/** The failure of such a message, which the device refused, is made to say that it was not handled. True: it
 * does. By who looks at the completion. */
bool gyre_queue_levels_settle(const gyre_queue *queue, uint64_t index);
/** The ticket of the message in a slot of the ring, and the slot of a ticket that is there. */
uint64_t gyre_queue_ticket(const gyre_queue *queue, uint64_t index);
bool gyre_queue_ticket_find(const gyre_queue *queue, uint64_t ticket, uint64_t *index);
/** Conditions of gyre_queue_wait: the reply to a ticket is there; there is a place for another message. */
int gyre_wait_ticket(const gyre_queue *queue, uint64_t ticket);
int gyre_wait_place(const gyre_queue *queue, uint64_t argument);

/* ---- post.c ---- */

/**
 * Sends the first of `request`, which is of the kernel's type, on a queue with a detour. As gyre_send, and
 * DROPPED when its id is known. *inside as gyre_queue_stay has it.
 */
gyre_status gyre_queue_post(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                            uint64_t *index, uint64_t deadline_ns, bool *inside);
/** The same for all of `requests`, of the caller's type. */
gyre_status gyre_queue_post_batch(gyre_queue *queue, const struct gyre_outgoing *requests,
                                  struct gyre_sent *sent, uint64_t deadline_ns);

/* ---- match.c ---- */

/** As gyre_receive_with, of whatever is there first. */
gyre_status gyre_queue_receive_any(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                                   gyre_message_info *info, uint64_t deadline_ns);

/* ---- seals.c; where queue->seals is not NULL ---- */

/** Seals requests that are about to be published, `stride` bytes apart; their headers are written. */
void gyre_queue_seals_sent(gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                           size_t stride);
/** Makes replies whose seal is wrong failures,
 * up to the first completion that is not there. Consumer side. */
void gyre_queue_seals_look(const gyre_queue *queue, uint64_t first, uint64_t end);
/** No device: the reply that the host put into the slot of `index` gets its seal. */
void gyre_queue_seal_reply(gyre_queue *queue, uint64_t index);

/* ---- attendant.c: the thread that does what is due at a time ---- */

gyre_status gyre_queue_attendant_create(gyre_queue *queue);
void gyre_queue_attendant_destroy(gyre_queue *queue);
/** Something is due at `when_ns`. The producer lock is held. */
void gyre_queue_attendant_expect(gyre_queue *queue, uint64_t when_ns);

#endif
