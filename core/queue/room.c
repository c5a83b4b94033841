/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Treats a sender of a full queue by the queue's policy (room.h): lets the sender wait, refuses the message, drops it, or drops
 * the oldest message.
 *
 * Locks: the producer's and the consumer's, one at a time and never while waiting.
 */
#include "core/queue/room.h"

#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/bells.h"
#include "core/queue/consumer.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/mark.h"
#include "core/queue/progress.h"
#include "core/queue/side.h"
#include "core/queue/storm.h"
#include "core/queue/storm_rules.h"
#include "core/queue/take.h"
#include "core/queue/wait.h"

/* Why the stages (options of the queue) do not let request `index` go yet, as words that follow the queue's name in a
 * sentence; NULL: they let it go. */
static const char *held_by(const gyre_queue *queue, uint64_t index)
{
    const char *why = NULL;
    for (size_t i = 0; !why && queue->stages.held[i]; i++)
        why = queue->stages.held[i](queue, index);
    return why;
}

static bool has_bytes(const gyre_queue *queue, uint64_t need)
{
    return need == 0 || !gyre_requests_bridged(&queue->ring) ||
           gyre_bytes_has_room(&queue->ring, gyre_queue_next_index(queue), need);
}

/* A condition: a place in the line is free for another message. */
static int wait_place(const gyre_queue *queue, uint64_t argument)
{
    (void)argument;
    return gyre_queue_closed(queue) ? -1 : queue->line->waiting(queue) < queue->ring.capacity;
}

/* Sets the error for a full ring of bytes, which may be full long before the slots are. */
static gyre_status full_of_bytes(const gyre_queue *queue, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    return gyre_error_set(status,
                          "%s is full: %llu messages take its %u bytes; "
                          "receive replies, or set a larger `bytes` for the queue",
                          gyre_queue_label(queue, label, sizeof label),
                          (unsigned long long)(gyre_queue_next_index(queue) - gyre_received(queue)),
                          queue->ring.bytes->layout.request_bytes);
}

static bool has_slot(const gyre_queue *queue)
{
    return gyre_queue_next_index(queue) - gyre_received(queue) < queue->ring.capacity;
}

/* Sets the error for a queue without a free slot. Messages that were taken before their turn, or by callers, keep their slots
 * until all messages before them are received; the sentence counts such messages. */
static gyre_status full_of_slots(const gyre_queue *queue, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    uint64_t taken = 0;
    for (uint64_t i = gyre_received(queue), end = gyre_queue_next_index(queue); i < end; i++)
        taken += gyre_mark_get(queue, i) == GYRE_MARK_DONE;
    if (taken == 0)
        return gyre_error_set_text(status, queue->full_text);
    return gyre_error_set(
        status,
        "%s is full: of its %llu places %llu are kept by messages that were taken before others "
        "which came earlier; receive those, or use a larger capacity",
        gyre_queue_label(queue, label, sizeof label), (unsigned long long)queue->ring.capacity,
        (unsigned long long)taken);
}

/* The slot of a call whose caller gave up counts as free once its reply is there, because the sender steps over it. */
bool gyre_queue_has_room(const gyre_queue *queue)
{
    const uint64_t cursor = gyre_received(queue);
    const uint8_t mark = gyre_mark_get(queue, cursor);
    const bool over =
        mark == GYRE_MARK_DONE || (mark == GYRE_MARK_ABANDONED && gyre_reply_ready(&queue->ring, cursor));
    if (gyre_is_reserving(queue) || !gyre_senders_leave_room(queue))
        return false;
    if (queue->line)
        return wait_place(queue, 0) > 0;
    if (held_by(queue, gyre_queue_next_index(queue)))
        return false;
    return over || (has_slot(queue) && has_bytes(queue, gyre_bytes_need(queue->ring.request_least)));
}

/* Sets the error for a line without a free place: its messages wait for the ring, which may have free slots. */
static gyre_status full_of_line(const gyre_queue *queue, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    return gyre_error_set(
        status,
        "%s is full: %llu messages wait in front of its ring; receive replies, or use a larger capacity",
        gyre_queue_label(queue, label, sizeof label), (unsigned long long)queue->line->waiting(queue));
}

/* Shows the program that lent the queue, if another one did, what only this side counts. A store that comes late is made up by the next. */
static void tell_losses(gyre_queue *queue)
{
    gyre_queue_device *line = &queue->ring.shared->device;
    const uint64_t discarded = __atomic_load_n(&queue->producer.dropped, __ATOMIC_RELAXED) +
                               __atomic_load_n(&queue->consumer.dropped, __ATOMIC_RELAXED);
    __atomic_store_n(&line->told_refused, __atomic_load_n(&queue->producer.rejected, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED); /* relaxed: figures for people */
    __atomic_store_n(&line->told_discarded, discarded, __ATOMIC_RELAXED);
}

static gyre_status tell_full(gyre_queue *queue, uint64_t bytes, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    __atomic_fetch_add(&queue->producer.rejected, 1, __ATOMIC_RELAXED);
    tell_losses(queue);
    GYRE_PROBE2(refused, gyre_queue_name(queue), queue->ring.capacity);
    if (status == GYRE_AGAIN && queue->ways.many_threads)
        gyre_storm_turned_away(queue);
    if (gyre_is_reserving(queue))
        return gyre_error_set(
            status, "%s has a reservation that was not committed yet; commit it, also with a count of 0",
            gyre_queue_label(queue, label, sizeof label));
    if (queue->line && !wait_place(queue, 0))
        return full_of_line(queue, status);
    const char *const why = has_slot(queue) ? held_by(queue, gyre_queue_next_index(queue)) : NULL;
    if (why)
        return gyre_error_set(status, "%s %s", gyre_queue_label(queue, label, sizeof label), why);
    if (!has_bytes(queue, bytes))
        return full_of_bytes(queue, status);
    if (has_slot(queue))
        return gyre_error_set(
            status,
            "%s keeps its free places for senders that wait for them: wait as well, or send again later",
            gyre_queue_label(queue, label, sizeof label));
    return full_of_slots(queue, status);
}

/* Sets the error for a full queue whose server is away: it gets no room before its next server comes. */
static gyre_status tell_full_and_away(gyre_queue *queue, uint64_t bytes)
{
    char label[GYRE_LABEL_SIZE], away[GYRE_AWAY_SIZE];
    const gyre_status status = tell_full(queue, bytes, GYRE_TIMEOUT);
    gyre_queue_away_text(queue, away);
    return away[0] ? gyre_error_set(status, "%s has no room%s", gyre_queue_label(queue, label, sizeof label),
                                    away)
                   : status;
}

/* Turns the result of a sender's wait into its status and sentence. When the queue ended, a sender gets another sentence than a
 * receiver. */
static gyre_status sender_waited(gyre_queue *queue, uint64_t bytes, gyre_status status, uint64_t deadline_ns)
{
    if (status == GYRE_CLOSED)
        return gyre_queue_tell_closed(queue);
    return status == GYRE_TIMEOUT ? gyre_error_add_overdue(tell_full_and_away(queue, bytes), deadline_ns)
                                  : status;
}

/*
 * Waits in the line of senders, if the policy is to block. True: the sender is the first, and waits for room next. False: the
 * sender slept in line, and that wait is over with *status.
 */
static bool await_turn(gyre_queue *queue, struct gyre_sender *sender, uint64_t deadline_ns,
                       gyre_status *status)
{
    if (queue->ways.policy != GYRE_FULL_BLOCK || gyre_senders_join(queue, sender))
        return true;
    *status = gyre_senders_await_call(queue, sender, deadline_ns);
    if (*status == GYRE_LOST)
        gyre_queue_tell_lost(queue);
    return false;
}

/*
 * Steps over finished calls at the cursor. True: there is room now that the sender may take. When no call ended at the cursor,
 * the sender leaves the receivers' lock alone, because taking it each time would keep them from owning it (lock.h).
 */
static bool tidy_up(gyre_queue *queue, const struct gyre_sender *sender, uint64_t bytes)
{
    uint8_t mark = gyre_mark_get(queue, gyre_received(queue));
    if (mark == GYRE_MARK_DONE || mark == GYRE_MARK_ABANDONED) {
        gyre_consumer_take(queue);
        gyre_consumer_give(queue);
    }
    gyre_producer_take(queue); /* without it `sent` may be behind `received`, which would look like "full" */
    bool room = queue->producer.sent - gyre_received(queue) < queue->ring.capacity &&
                has_bytes(queue, bytes) && gyre_senders_has_turn(queue, sender);
    gyre_producer_give(queue);
    return room;
}

/* The room that a sender waits for: a slot, and `bytes` bytes in the ring of bytes. `cursor`: where receivers were before
 * the wait. */
struct wanted_room {
    uint64_t cursor, bytes;
};

/* A condition: a send may find room; or the slot at the cursor belongs to an abandoned call, which can be stepped over once
 * its reply is there. */
static int wait_room(const gyre_queue *queue, uint64_t argument)
{
    const struct wanted_room *wanted = (const struct wanted_room *)(uintptr_t)argument;
    const uint64_t cursor = wanted->cursor;
    if (gyre_queue_closed(queue))
        return -1;
    if (gyre_is_reserving(queue))
        return 0;
    uint64_t next = gyre_queue_next_index(queue);
    if (held_by(queue, next))
        return 0;
    if (gyre_received(queue) != cursor ||
        (next - cursor < queue->ring.capacity && has_bytes(queue, wanted->bytes)))
        return 1;
    return gyre_mark_get(queue, cursor) == GYRE_MARK_ABANDONED;
}

static gyre_status sender_block(gyre_queue *queue, struct gyre_sender *sender, uint64_t bytes,
                                uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    if (deadline_ns == GYRE_NO_WAIT)
        return tell_full(queue, bytes, GYRE_AGAIN);
    __atomic_fetch_add(&queue->producer.waits, 1, __ATOMIC_RELAXED);
    gyre_queue_tell_stages(queue);
    if (!await_turn(queue, sender, deadline_ns, &status))
        return sender_waited(queue, bytes, status, deadline_ns);
    const uint64_t cursor = gyre_received(queue);
    const struct wanted_room wanted = {cursor, bytes};
    if (gyre_mark_get(queue, cursor) == GYRE_MARK_ABANDONED)
        status = gyre_queue_wait(queue, gyre_wait_reply, cursor, GYRE_BELL_DEVICE, deadline_ns);
    else
        status =
            gyre_queue_wait(queue, wait_room, (uint64_t)(uintptr_t)&wanted, GYRE_BELL_CREDIT, deadline_ns);
    return sender_waited(queue, bytes, status, deadline_ns);
}

static bool is_full(const gyre_queue *queue, uint64_t cursor, uint64_t bytes)
{
    return queue->producer.sent - cursor >= queue->ring.capacity || !has_bytes(queue, bytes);
}

/* Tells the device to drop requests below `index`. Under the producer's lock. The word in the ring is never read back, because a
 * worker may have written there. */
static void set_drop_before(gyre_queue *queue, uint64_t index)
{
    queue->producer.drop_before = index;
    __atomic_store_n(&queue->ring.shared->host.drop_before, index,
                     __ATOMIC_RELEASE); /* workers read it with a relaxed load */
}

/* Asks the device to drop request `index`, under the producer's lock. False: the device was already asked for a later request,
 * so this request is gone. */
static bool ask_to_drop(gyre_queue *queue, uint64_t index)
{
    if (index < queue->producer.drop_asked)
        return false;
    if (index > queue->producer.drop_asked)
        queue->producer.drop_askers = 0;
    queue->producer.drop_asked = index;
    queue->producer.drop_askers++;
    if (queue->producer.drop_before <= index)
        set_drop_before(queue, index + 1);
    return true;
}

/* Notes that a sender that asked for the drop of `index` waits no more. `in_vain`: the message was not completed, so the order
 * to drop it is withdrawn, unless other senders still wait for the drop. */
static void asked_to_drop(gyre_queue *queue, uint64_t index, bool in_vain)
{
    gyre_producer_take(queue);
    if (index == queue->producer.drop_asked && --queue->producer.drop_askers == 0 && in_vain &&
        queue->producer.drop_before == index + 1)
        set_drop_before(queue, index);
    gyre_producer_give(queue);
}

/* Waits until the message at the cursor is complete, in whatever way. */
static gyre_status await_drop(gyre_queue *queue, uint64_t cursor, bool asked, uint64_t deadline_ns)
{
    gyre_status status = gyre_queue_wait(queue, gyre_wait_reply, cursor, GYRE_BELL_DEVICE, deadline_ns);
    if (asked)
        asked_to_drop(queue, cursor, status != GYRE_OK);
    /* the device may still have dropped the message before the withdrawal: then this send gets its slot */
    return status == GYRE_TIMEOUT && gyre_wait_reply(queue, cursor) > 0 ? GYRE_OK : status;
}

static void oldest_discard(gyre_queue *queue, uint64_t cursor)
{
    gyre_consumer_take(queue);
    if (queue->consumer.received == cursor && !queue->consumer.peeking &&
        gyre_reply_ready(&queue->ring, cursor)) {
        gyre_replies_pass(queue, cursor + 1, 1);
    }
    gyre_consumer_give(queue);
    tell_losses(queue);
}

/*
 * Discards the message at the cursor: its unread completion, or, through the device, the request itself if it was not
 * handled yet. A request that is being handled finishes first. The message of a call is never discarded. The device is
 * asked only while a sender waits for the slot. A device that read the order before its withdrawal still obeys it; then the
 * next send gets that slot.
 */
static gyre_status drop_oldest(gyre_queue *queue, struct gyre_sender *sender, uint64_t bytes,
                               uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    const uint64_t cursor = gyre_received(queue);
    gyre_producer_take(queue);
    const bool full_still = is_full(queue, cursor, bytes), ready = gyre_wait_reply(queue, cursor) > 0;
    /* the queue is full, so request `cursor` was sent and has a mark */
    const bool callers = full_still && gyre_mark_get(queue, cursor) != GYRE_MARK_SEND;
    const bool held = callers || gyre_is_peeking(queue);
    const bool waits = full_still && !held && !ready && deadline_ns != GYRE_NO_WAIT;
    const bool asked = waits && ask_to_drop(queue, cursor);
    gyre_producer_give(queue);
    if (!full_still)
        return GYRE_OK; /* receivers were quicker; request `cursor` may not be sent yet, so no wait for it */
    if (held)
        return sender_block(queue, sender, bytes, deadline_ns);
    if (!ready && !waits)
        return tell_full(queue, bytes, GYRE_AGAIN);
    if (waits)
        status = await_drop(queue, cursor, asked, deadline_ns);
    if (status != GYRE_OK)
        return sender_waited(queue, bytes, status, deadline_ns);
    if (gyre_queue_closed(queue)) /* no send would use the slot */
        return gyre_queue_tell_closed(queue);
    oldest_discard(queue, cursor);
    return GYRE_OK;
}

/* Waits for a place in the line of a queue with levels, in front of the ring. */
static gyre_status make_place(gyre_queue *queue, struct gyre_sender *sender, uint64_t deadline_ns)
{
    if (deadline_ns == GYRE_NO_WAIT)
        return tell_full(queue, 0, GYRE_AGAIN);
    __atomic_fetch_add(&queue->producer.waits, 1, __ATOMIC_RELAXED);
    gyre_status status = GYRE_OK;
    if (await_turn(queue, sender, deadline_ns, &status))
        status = gyre_queue_wait(queue, wait_place, 0, GYRE_BELL_CREDIT, deadline_ns);
    return sender_waited(queue, 0, status, deadline_ns);
}

gyre_status gyre_queue_make_room(gyre_queue *queue, struct gyre_sender *sender, uint64_t bytes,
                                 uint64_t deadline_ns)
{
    char label[GYRE_LABEL_SIZE];
    if (queue->line && queue->ways.policy == GYRE_FULL_BLOCK)
        return make_place(queue, sender, deadline_ns);
    const bool room = !queue->line && tidy_up(queue, sender, bytes),
               held = held_by(queue, gyre_queue_next_index(queue)) != NULL,
               reserved = gyre_is_reserving(queue);
    if (room && !held && !reserved)
        return GYRE_OK;
    /* no policy applies: the room is there, another sender is about to use it, or the journal or a checkpoint is late */
    if (reserved || (held && (room || queue->line)))
        return sender_block(queue, sender, bytes, deadline_ns);
    switch (queue->ways.policy) {
    case GYRE_FULL_REJECT:
        return tell_full(queue, bytes, GYRE_AGAIN);
    case GYRE_FULL_DROP_NEWEST:
        __atomic_fetch_add(&queue->producer.dropped, 1, __ATOMIC_RELAXED);
        tell_losses(queue);
        return gyre_error_set(GYRE_DROPPED, "%s is full and drops the newest message",
                              gyre_queue_label(queue, label, sizeof label));
    case GYRE_FULL_DROP_OLDEST:
        return drop_oldest(queue, sender, bytes, deadline_ns);
    default:
        return sender_block(queue, sender, bytes, deadline_ns);
    }
}
