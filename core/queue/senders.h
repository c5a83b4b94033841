/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The senders that wait for room in a full queue whose policy is to block: a line in the order of their coming.
 *
 * The first one waits at the credit bell; each of the others sleeps at a word of its own and is called when it is the
 * first. So a place that becomes free wakes one sender. A sender that is not in line may take a place before them, once
 * for each place that the line took. So a waiting sender waits for at most twice the places before it, and a running
 * sender need not sleep for a place that nobody has come for yet.
 *
 * All under the producer's lock, unless it says otherwise.
 */
#ifndef GYRE_CORE_QUEUE_SENDERS_H
#define GYRE_CORE_QUEUE_SENDERS_H

#include "core/queue/queue.h"

/** One sender's place in line, on its own stack; zeroed at first. */
struct gyre_sender {
    struct gyre_sender *next;
    uint32_t called; /* futex word, atomic: it is worth another look at the queue */
    bool in_line, passed;
    bool put_off;             /* in a storm: others come first */
    const uint32_t *follower; /* `called` of the sender that was called when this one passed */
};

/** Whether it is the sender's turn while others wait. NULL: a sender that is never in line. */
bool gyre_senders_has_turn(const gyre_queue *queue, const struct gyre_sender *sender);

/**
 * How many of `wanted` requests the sender may put now, if there is room: at most half of the room while others wait.
 * 0: a reservation is open, or others come first.
 */
uint64_t gyre_senders_admit(gyre_queue *queue, struct gyre_sender *sender, uint64_t wanted);

/** The sender put the requests that it was admitted for, and leaves the line. NULL as above. */
void gyre_senders_passed(gyre_queue *queue, struct gyre_sender *sender);

/** Without the lock: whether a sender that is never in line could take a place now. */
bool gyre_senders_leave_room(const gyre_queue *queue);

/** Without the lock: joins the line, once. True: it is the first. */
bool gyre_senders_join(gyre_queue *queue, struct gyre_sender *sender);

/**
 * Without the lock, at the end: gives up the sender's place in line, if it has one, and wakes the sender whose turn it
 * is.
 */
void gyre_senders_leave(gyre_queue *queue, struct gyre_sender *sender);

/** Without the lock: sleeps until the sender is called. OK, TIMEOUT, CLOSED, LOST; sets no sentence. */
gyre_status gyre_senders_await_call(gyre_queue *queue, struct gyre_sender *sender, uint64_t deadline_ns);

/** The queue ends: wakes all senders in line for one more look. */
void gyre_senders_call_all(gyre_queue *queue);

#endif
