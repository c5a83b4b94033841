/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives out of turn (match.h): the reply with a certain correlation, or, in a queue whose order is `any`, any reply that
 * is there. A completion that is taken before its turn is marked like a finished call, and the cursor steps over it.
 *
 * Locks: the consumer's while slots are read. The producer's, before it, while messages in front of the ring are read.
 * Neither is held across a wait.
 */
#include "core/queue/match.h"

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/consumer.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/mark.h"
#include "core/queue/progress.h"
#include "core/queue/side.h"
#include "core/queue/take.h"
#include "core/queue/ticket.h"
#include "core/queue/wait.h"

/* Which completions a receiver takes: any, or those with a correlation. */
struct wish {
    bool any;
    uint64_t correlation;
};

/* Where a wanted message was when it could not be taken. */
struct sighting {
    bool peeking; /* a peek is open, so no completion can be taken */
    bool in_ring, in_line;
    uint64_t index;        /* in_ring: the message's index */
    uint64_t ticket, sent; /* in_line: the message's ticket, and the ring's next index at that time */
};

/* The correlation in the header of request `index`; 0 when the queue's headers have no such field. */
static uint64_t correlation_of(const struct gyre_ring *ring, uint64_t index)
{
    uint64_t correlation = 0;
    if (ring->slots.header_size > offsetof(gyre_header, correlation))
        memcpy(&correlation, gyre_header_at(ring, index) + offsetof(gyre_header, correlation),
               sizeof correlation);
    return correlation;
}

static bool match_is_wanted(const gyre_queue *queue, uint64_t index, const struct wish *wish)
{
    return gyre_mark_get(queue, index) == GYRE_MARK_SEND &&
           (wish->any || correlation_of(&queue->ring, index) == wish->correlation);
}

/* Finds the first wanted message in the ring; `ready`: only a message whose completion is there. Under the consumer lock. */
static bool match_find(const gyre_queue *queue, const struct wish *wish, bool ready, uint64_t *index)
{
    const uint64_t end = gyre_queue_next_index(queue);
    for (*index = queue->consumer.received; *index < end; ++*index)
        if (match_is_wanted(queue, *index, wish) && (!ready || gyre_reply_ready(&queue->ring, *index)))
            return true;
    return false;
}

/* Looks without the lock, so the answer is a hint whether a look under the lock is worthwhile. */
int gyre_wait_whichever(const gyre_queue *queue, uint64_t argument)
{
    const bool over = gyre_queue_closed(queue) && !gyre_line_waits(queue);
    const uint64_t end = gyre_queue_next_index(queue), first = gyre_received(queue);
    (void)argument;
    for (uint64_t index = first; index < end; index++)
        if (gyre_reply_ready(&queue->ring, index) && gyre_mark_get(queue, index) == GYRE_MARK_SEND)
            return 1;
    return over && first >= end ? -1 : 0;
}

/* Takes the completion of request `index`. Under the consumer lock. As for a call, memory that the message holds besides its
 * slot is given back when the cursor passes the slot. */
static gyre_status match_take(gyre_queue *queue, uint64_t index, void *reply, size_t size,
                              gyre_completion *completion, gyre_message_info *info)
{
    gyre_status status = gyre_queue_read_reply(queue, index, reply, size, completion);
    if (status == GYRE_INVALID || status == GYRE_INTERNAL)
        return status; /* the completion stays in its slot */
    gyre_replies_taken(queue, index, index + 1);
    GYRE_PROBE3(received, gyre_queue_name(queue), index, UINT64_C(1));
    if (info)
        gyre_reply_tell(queue, index, info);
    if (gyre_reply_was_dropped(queue, index))
        __atomic_fetch_add(&queue->consumer.dropped, 1, __ATOMIC_RELEASE); /* pairs with the statistics */
    gyre_mark_set_locked(queue, index, GYRE_MARK_DONE);
    return status;
}

static gyre_status match_tell_none(const gyre_queue *queue, const struct wish *wish)
{
    char label[GYRE_LABEL_SIZE];
    return gyre_error_set(GYRE_NOT_FOUND, "no message of %s with correlation %llu waits to be received",
                          gyre_queue_label(queue, label, sizeof label),
                          (unsigned long long)wish->correlation);
}

/*
 * A condition for a message that was in the line in front of the ring: the message was answered, or another receiver took
 * it. If the message has entered the ring, its index is at least `sent`, the ring's next index when it was still outside.
 */
static int wait_line(const gyre_queue *queue, uint64_t argument)
{
    const struct sighting *seen = (const struct sighting *)(uintptr_t)argument;
    uint64_t index;
    if (gyre_ticket_find(queue, seen->ticket, &index))
        return gyre_reply_ready(&queue->ring, index);
    return gyre_received(queue) > seen->sent;
}

/* The condition to wait for before the next look at the ring. */
struct awaited {
    gyre_wait_condition condition;
    uint64_t argument;
    enum gyre_wait_bell bell;
};

static struct awaited match_awaited(const gyre_queue *queue, const struct wish *wish,
                                    const struct sighting *seen)
{
    if (seen->peeking)
        return (struct awaited){gyre_wait_turn, gyre_received(queue), GYRE_BELL_CREDIT};
    if (wish->any)
        return (struct awaited){gyre_wait_whichever, 0, GYRE_BELL_DEVICE};
    if (seen->in_ring)
        return (struct awaited){gyre_wait_reply, seen->index, GYRE_BELL_DEVICE};
    return (struct awaited){wait_line, (uint64_t)(uintptr_t)seen, GYRE_BELL_DEVICE};
}

/* Sets the sentence that says why no message was received in time, if the wait itself does not know the reason. */
static gyre_status match_explain(const gyre_queue *queue, const struct sighting *seen, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    gyre_queue_label(queue, label, sizeof label);
    if ((status == GYRE_TIMEOUT || status == GYRE_AGAIN) && seen->in_line &&
        gyre_queue_next_index(queue) - gyre_received(queue) >= queue->ring.capacity)
        return gyre_error_add(status,
                              "the message waits in front of %s, whose places are taken: a reply keeps its "
                              "place until all before it were received",
                              label);
    return status;
}

static gyre_status match_wait(gyre_queue *queue, const struct wish *wish, const struct sighting *seen,
                              uint64_t deadline_ns)
{
    if (!seen->peeking && !wish->any && !seen->in_ring && !seen->in_line)
        return match_tell_none(queue, wish);
    const struct awaited it = match_awaited(queue, wish, seen);
    if (seen->peeking && deadline_ns == GYRE_NO_WAIT)
        return gyre_error_set_text(
            GYRE_AGAIN, "views of the queue are open: call gyre_release_views before another receive");
    if (deadline_ns == GYRE_NO_WAIT)
        return match_explain(queue, seen, gyre_queue_look(queue, it.condition, it.argument));
    __atomic_fetch_add(&queue->consumer.waits, 1, __ATOMIC_RELAXED);
    return match_explain(queue, seen,
                         gyre_queue_wait(queue, it.condition, it.argument, it.bell, deadline_ns));
}

/* Finds the wanted message in the line in front of the ring. Called before the look at the ring, because a message moves only
 * from the line to the ring: a message that both looks miss is not under way. */
static void look_in_line(gyre_queue *queue, const struct wish *wish, struct sighting *seen)
{
    queue->line->move(queue);
    /* read before the look: a message that the look misses gets this index or a later one */
    seen->sent = gyre_queue_next_index(queue);
    seen->in_line = !wish->any && queue->line->find(queue, wish->correlation, &seen->ticket);
}

static gyre_status match_receive(gyre_queue *queue, const struct wish *wish, void *reply, size_t size,
                                 gyre_completion *completion, gyre_message_info *info, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    bool inside = false, taken = false;
    while (status == GYRE_OK && !taken) {
        struct sighting seen = {0};
        if (queue->line)
            look_in_line(queue, wish, &seen);
        gyre_consumer_take(queue);
        seen.peeking = queue->consumer.peeking;
        taken = !seen.peeking && match_find(queue, wish, true, &seen.index);
        if (taken)
            status = match_take(queue, seen.index, reply, size, completion, info);
        else
            seen.in_ring = match_find(queue, wish, false, &seen.index);
        gyre_consumer_give(queue);
        if (taken)
            break;
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = match_wait(queue, wish, &seen, deadline_ns);
    }
    gyre_queue_leave(queue, inside);
    return status;
}

gyre_status gyre_queue_receive_any(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                                   gyre_message_info *info, uint64_t deadline_ns)
{
    const struct wish wish = {.any = true};
    return match_receive(queue, &wish, reply, size, completion, info, deadline_ns);
}

gyre_status gyre_receive_for(gyre_queue *queue, uint64_t correlation, void *reply, size_t size,
                             gyre_completion *completion, gyre_message_info *info, uint64_t deadline_ns)
{
    const struct wish wish = {.correlation = correlation};
    char label[GYRE_LABEL_SIZE];
    if (!queue || (!reply && size) || (info && info->size < sizeof info->size))
        return GYRE_ARGUMENTS("gyre_receive_for", {"queue", queue}, {"reply", reply || !size},
                              GYRE_SIZED_OR_NULL(info));
    if (queue->ring.slots.header_size <= offsetof(gyre_header, correlation))
        return gyre_error_set(GYRE_INVALID,
                              "the header of %s holds no correlation; "
                              "set header = correlation in its section",
                              gyre_queue_label(queue, label, sizeof label));
    return match_receive(queue, &wish, reply, size, completion, info, deadline_ns);
}
