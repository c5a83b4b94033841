/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving out of turn: the reply with a certain correlation, or, where the queue's order is `any`,
 * whichever is there. What is taken before its turn is marked like a finished call, and the cursor steps over
 * it.
 *
 * Lock: the consumer's while slots are read; the producer's, before it, while messages in front of the ring are;
 * neither across a wait.
 */
#include "core/base/error.h"
#include "core/ring/behaviours.h"

/* Which completions a receiver takes. */
struct wish {
    bool any;
    uint64_t correlation;
};

static bool is_wanted(const gyre_queue *queue, uint64_t index, const struct wish *wish)
{
    return gyre_mark_get(queue, index) == GYRE_MARK_SEND &&
           (wish->any || gyre_queue_correlation(queue, index) == wish->correlation);
}

/* The first wanted message under way; `ready`: whose completion is there. Under the lock. */
static bool find(const gyre_queue *queue, const struct wish *wish, bool ready, uint64_t *index)
{
    const uint64_t end = gyre_queue_next_index(queue);
    for (*index = queue->consumer.received; *index < end; ++*index)
        if (is_wanted(queue, *index, wish) && (!ready || gyre_reply_ready(queue, *index)))
            return true;
    return false;
}

/* Without the lock: whether a look under it is worth while. */
static int wait_any(const gyre_queue *queue, uint64_t argument)
{
    const uint64_t end = gyre_queue_next_index(queue), first = gyre_received(queue);
    (void)argument;
    for (uint64_t index = first; index < end; index++)
        if (gyre_reply_ready(queue, index) && gyre_mark_get(queue, index) == GYRE_MARK_SEND)
            return 1;
    return gyre_queue_closed(queue) && first >= end ? -1 : 0;
}

/* Under the lock. */
static gyre_status take(gyre_queue *queue, uint64_t index, void *reply, size_t size,
                        gyre_completion *completion, gyre_message_info *info)
{
    gyre_status status = gyre_queue_read_reply(queue, index, reply, size, completion);
    if (status == GYRE_INVALID || status == GYRE_INTERNAL)
        return status; /* it is not consumed */
    if (queue->annotated) {
        queue->consumer.wanted = info;
        gyre_queue_note_taken(queue, index, index + 1);
        queue->consumer.wanted = NULL;
    } else if (info) {
        gyre_queue_info(queue, index, info);
    }
    if (gyre_reply_slot(queue, index)->info == GYRE_OUTCOME_DROPPED)
        __atomic_fetch_add(&queue->consumer.dropped, 1, __ATOMIC_RELEASE); /* with the statistics */
    gyre_mark_set_locked(queue, index, GYRE_MARK_DONE);
    return status;
}

static gyre_status nobody(const gyre_queue *queue, const struct wish *wish)
{
    char label[96];
    return gyre_error_set(GYRE_NOT_FOUND, "no message of %s with correlation %llu waits to be received",
                          gyre_queue_label(queue, label, sizeof label),
                          (unsigned long long)wish->correlation);
}

/* Until another look is worth while. `in_line`: a wanted message waited in front of the ring. */
static gyre_status wait(gyre_queue *queue, const struct wish *wish, bool in_line, bool found, uint64_t index,
                        uint64_t deadline_ns)
{
    if (!wish->any && !found && !in_line)
        return nobody(queue, wish);
    if (deadline_ns == GYRE_NO_WAIT)
        return gyre_queue_look(queue, wait_any, 0);
    __atomic_fetch_add(&queue->consumer.waits, 1, __ATOMIC_RELAXED);
    if (found && !wish->any)
        return gyre_queue_wait(queue, gyre_wait_reply, index, GYRE_BELL_DEVICE, deadline_ns);
    return gyre_queue_wait(queue, wait_any, 0, GYRE_BELL_DEVICE, deadline_ns);
}

static gyre_status receive(gyre_queue *queue, const struct wish *wish, void *reply, size_t size,
                           gyre_completion *completion, gyre_message_info *info, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    bool inside = false, taken = false;
    while (status == GYRE_OK && !taken) {
        uint64_t index = 0, ticket = 0;
        if (queue->levels)
            gyre_queue_levels_move(queue);
        /* before the ring: what is in neither of them is nowhere */
        const bool in_line =
            queue->levels && !wish->any && gyre_queue_levels_find(queue, wish->correlation, &ticket);
        gyre_consumer_take(queue);
        const bool peeking = queue->consumer.peeking;
        taken = !peeking && find(queue, wish, true, &index);
        if (taken)
            status = take(queue, index, reply, size, completion, info);
        const bool found = taken || find(queue, wish, false, &index);
        gyre_consumer_give(queue);
        if (taken)
            break;
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = peeking && deadline_ns == GYRE_NO_WAIT
                     ? gyre_error_set_text(GYRE_AGAIN, "a peek was not released yet")
                 : peeking ? gyre_queue_wait(queue, gyre_wait_turn, gyre_received(queue), GYRE_BELL_CREDIT,
                                             deadline_ns)
                           : wait(queue, wish, in_line, found, index, deadline_ns);
    }
    gyre_queue_leave(queue, inside);
    return status;
}

gyre_status gyre_queue_receive_any(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                                   gyre_message_info *info, uint64_t deadline_ns)
{
    const struct wish wish = {.any = true};
    return receive(queue, &wish, reply, size, completion, info, deadline_ns);
}

gyre_status gyre_receive_for(gyre_queue *queue, uint64_t correlation, void *reply, size_t size,
                             gyre_completion *completion, gyre_message_info *info, uint64_t deadline_ns)
{
    const struct wish wish = {.correlation = correlation};
    char label[96];
    if (!queue || (!reply && size) || (info && info->size < sizeof info->size))
        return gyre_error_set(GYRE_INVALID, "gyre_receive_for needs a queue, room for the reply, "
                                            "and an info with its size set or NULL");
    if (queue->header_size <= offsetof(gyre_header, correlation))
        return gyre_error_set(GYRE_INVALID,
                              "the header of %s holds no correlation; "
                              "set header = correlation in its section",
                              gyre_queue_label(queue, label, sizeof label));
    return receive(queue, &wish, reply, size, completion, info, deadline_ns);
}
