/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the line of senders that wait for room (senders.h).
 *
 * Lock: the producer's. A struct gyre_sender lies on its thread's stack; only its thread and holders of the lock look at it. A
 * thread that calls a sender sets the sender's word under the lock, and wakes the word's address without the lock.
 */
#include "core/queue/senders.h"

#include "core/queue/bells.h"
#include "core/queue/side.h"
#include "core/queue/storm.h"
#include "core/queue/storm_rules.h"
#include "core/queue/strategy.h"

/* A device that dies in this process rings no bell, so a sender that sleeps in line looks now and then. */
#define LOOK_NS UINT64_C(100000000)

bool gyre_senders_has_turn(const gyre_queue *queue, const struct gyre_sender *sender)
{
    const struct gyre_sender *const first = queue->producer.senders.first;
    if (sender && sender->put_off)
        return false;
    if (!first || first == sender)
        return true;
    return !(sender && sender->in_line) && !queue->producer.senders.overtaken;
}

/* Relaxed, because the answer is a hint; the sender looks again under the lock. */
bool gyre_senders_leave_room(const gyre_queue *queue)
{
    return !(__atomic_load_n(&queue->producer.barred, __ATOMIC_RELAXED) & GYRE_BARRED_LINE) ||
           !__atomic_load_n(&queue->producer.senders.overtaken, __ATOMIC_RELAXED);
}

/* Notes whether a sender outside the line went before the first sender. Under the lock. */
static void overtaken_set(gyre_queue *queue, bool overtaken)
{
    __atomic_store_n(&queue->producer.senders.overtaken, overtaken, __ATOMIC_RELAXED); /* as read above */
}

uint64_t gyre_senders_admit(gyre_queue *queue, struct gyre_sender *sender, uint64_t wanted)
{
    const uint8_t barred = queue->producer.barred;
    if (barred == 0)
        return wanted;
    if (barred & GYRE_BARRED_RESERVING)
        return 0;
    if (barred & GYRE_BARRED_STORM && sender && !sender->in_line)
        sender->put_off = gyre_storm_puts_off(queue);
    if (!gyre_senders_has_turn(queue, sender))
        return 0;
    const struct gyre_sender *const first = queue->producer.senders.first;
    if (!first || (first == sender && !first->next))
        return wanted; /* no other sender waits */
    const uint64_t room = queue->ring.capacity - (queue->producer.sent - gyre_received(queue));
    const uint64_t half = room > 1 ? room / 2 : 1;
    return half < wanted ? half : wanted;
}

/* Removes a sender from the line: the first sender, or a later sender that gives up. */
static void remove_sender(gyre_queue *queue, struct gyre_sender *sender)
{
    struct gyre_sender **link = &queue->producer.senders.first, *before = NULL;
    while (*link != sender) {
        before = *link;
        link = &before->next;
    }
    *link = sender->next;
    if (queue->producer.senders.last == sender)
        queue->producer.senders.last = before;
    sender->in_line = false;
    if (!queue->producer.senders.first)
        gyre_barred_set(queue, GYRE_BARRED_LINE, false);
}

static const uint32_t *sender_call(struct gyre_sender *sender)
{
    if (!sender)
        return NULL;
    __atomic_store_n(&sender->called, 1, __ATOMIC_RELEASE); /* pairs with the acquire of its look */
    return &sender->called;
}

void gyre_senders_passed(gyre_queue *queue, struct gyre_sender *sender)
{
    if (queue->producer.barred & GYRE_BARRED_STORM)
        gyre_storm_let_in(queue);
    if (!sender || !sender->in_line) {
        overtaken_set(queue, queue->producer.senders.first != NULL);
        return;
    }
    overtaken_set(queue, false);
    remove_sender(queue, sender);
    sender->follower = sender_call(queue->producer.senders.first);
    sender->passed = true;
}

/* Wakes the sender that was called. It may have returned meanwhile, so only the address of its word is used. The bell for room
 * is rung, too, because a relay, which is never in line, may take a slot again. */
static void wake_follower(gyre_queue *queue, const uint32_t *follower)
{
    if (follower)
        gyre_futex_wake(follower, 1);
    gyre_queue_ring_credit(queue);
}

bool gyre_senders_join(gyre_queue *queue, struct gyre_sender *sender)
{
    gyre_producer_take(queue);
    if (!sender->in_line) {
        struct gyre_sender *const last = queue->producer.senders.last;
        sender->next = NULL;
        sender->in_line = true;
        sender->put_off = false;
        if (last)
            last->next = sender;
        else
            queue->producer.senders.first = sender;
        queue->producer.senders.last = sender;
        gyre_barred_set(queue, GYRE_BARRED_LINE, true);
    }
    const bool first = queue->producer.senders.first == sender;
    __atomic_store_n(&sender->called, first, __ATOMIC_RELAXED); /* its own thread's look */
    gyre_producer_give(queue);
    return first;
}

void gyre_senders_leave(gyre_queue *queue, struct gyre_sender *sender)
{
    if (sender->in_line) {
        gyre_producer_take(queue);
        const bool first = queue->producer.senders.first == sender;
        remove_sender(queue, sender);
        if (first)
            sender->follower = sender_call(queue->producer.senders.first);
        gyre_producer_give(queue);
        wake_follower(queue, sender->follower);
    } else if (sender->passed) {
        wake_follower(queue, sender->follower);
    }
}

struct waiting_sender {
    const gyre_queue *queue;
    const struct gyre_sender *sender;
};

static gyre_status sender_look(const void *context)
{
    const struct waiting_sender *waiting = context;
    if (__atomic_load_n(&waiting->sender->called, __ATOMIC_ACQUIRE)) /* pairs with sender_call */
        return GYRE_OK;
    if (gyre_queue_closed(waiting->queue) || gyre_queue_abandoned(waiting->queue))
        return GYRE_CLOSED;
    return gyre_queue_lost(waiting->queue) ? GYRE_LOST : GYRE_AGAIN;
}

static gyre_status sender_park(const void *context, uint64_t deadline_ns)
{
    const struct waiting_sender *waiting = context;
    for (;;) {
        const uint64_t now_ns = gyre_clock_ns(), next_ns = now_ns + LOOK_NS;
        const gyre_status status = sender_look(context);
        if (status != GYRE_AGAIN)
            return status;
        if (now_ns >= deadline_ns)
            return GYRE_TIMEOUT;
        gyre_futex_wait(&waiting->sender->called, 0, next_ns < deadline_ns ? next_ns : deadline_ns);
    }
}

/* A sender in line does not spin before it sleeps, because the senders before it come first, each with a message of its
 * own. */
gyre_status gyre_senders_await_call(gyre_queue *queue, struct gyre_sender *sender, uint64_t deadline_ns)
{
    const struct waiting_sender waiting = {queue, sender};
    const bool sleeps = queue->ways.idle != GYRE_WAIT_SPIN && queue->ways.idle != GYRE_WAIT_YIELD;
    const struct gyre_strategy strategy = {.idle = sleeps ? GYRE_WAIT_PARK : queue->ways.idle,
                                           .deadline_ns = deadline_ns,
                                           .look = sender_look,
                                           .park = sender_park,
                                           .context = &waiting};
    return gyre_strategy_wait(&strategy);
}

void gyre_senders_call_all(gyre_queue *queue)
{
    struct gyre_sender *sender = queue->producer.senders.first;
    while (sender) { /* under the lock: a sender stays in line until it gets the lock */
        struct gyre_sender *const next = sender->next;
        gyre_futex_wake(sender_call(sender), 1);
        sender = next;
    }
}
