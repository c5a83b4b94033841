/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the senders that wait for room in a full queue whose policy is to block, in a line (first come, first served).
 *
 * The first sender in line waits at the credit bell. Each other sender sleeps at a futex word of its own and is called when
 * it becomes the first. So a slot that becomes free wakes one sender. A sender outside the line may take one slot for each
 * slot that the line took. So a sender in line waits for at most twice as many slots as senders are before it, and a
 * running sender need not sleep for a slot that the first sender in line has not taken yet.
 *
 * All functions run under the producer's lock, unless their comments say otherwise.
 */
#ifndef GYRE_CORE_QUEUE_SENDERS_H
#define GYRE_CORE_QUEUE_SENDERS_H

#include "core/queue/queue.h"

/** One sender's place in line. It lies on the sender's stack and is zeroed before its first use. */
struct gyre_sender {
    struct gyre_sender *next;
    uint32_t called; /* futex word, atomic; 1: the sender should look at the queue again */
    bool in_line, passed;
    bool put_off;             /* in a storm (storm.h): other senders come first */
    const uint32_t *follower; /* `called` of the sender that became the first when this sender left */
};

/** Whether the sender may send now although others wait. NULL: a sender that never joins the line. */
bool gyre_senders_has_turn(const gyre_queue *queue, const struct gyre_sender *sender);

/**
 * How many of `wanted` requests the sender may put now, if there is room. While other senders wait: at most half of the
 * room. 0: a reservation is open, or other senders come first.
 */
uint64_t gyre_senders_admit(gyre_queue *queue, struct gyre_sender *sender, uint64_t wanted);

/** The sender has put its admitted requests: removes it from the line and calls the next sender. NULL: a sender that never
 * joins the line. */
void gyre_senders_passed(gyre_queue *queue, struct gyre_sender *sender);

/** Without the lock: whether a sender outside the line may take a slot now, as a hint. */
bool gyre_senders_leave_room(const gyre_queue *queue);

/** Without the lock: puts the sender into the line, unless it is there already. True: it is the first in line. */
bool gyre_senders_join(gyre_queue *queue, struct gyre_sender *sender);

/**
 * Without the lock, at the end of a send: removes the sender from the line, if it is there, and wakes the sender that is now
 * the first.
 */
void gyre_senders_leave(gyre_queue *queue, struct gyre_sender *sender);

/** Without the lock: sleeps until the sender is called. OK, TIMEOUT, CLOSED, LOST; sets no sentence. */
gyre_status gyre_senders_await_call(gyre_queue *queue, struct gyre_sender *sender, uint64_t deadline_ns);

/** Wakes all senders in line for one more look, because the queue was closed. */
void gyre_senders_call_all(gyre_queue *queue);

#endif
