/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving: completions in the order of the sends, copied or in place.
 *
 * Locks: consumer.lock while slots are read; never across a wait. The cursor `received` moves only under it.
 */
#include "core/queue/queue_inside.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/stages/behaviours.h"
#include "core/stages/spans.h"
#include "core/base/text.h"

/* what a slot says is what an application is told */
_Static_assert((int)GYRE_REPLIED == (int)GYRE_OUTCOME_REPLY, "replied");
_Static_assert((int)GYRE_NOT_REPLIED == (int)GYRE_OUTCOME_NO_REPLY, "not replied");
_Static_assert((int)GYRE_HANDLER_FAILED == (int)GYRE_OUTCOME_FAILED, "failed");
_Static_assert((int)GYRE_WAS_DROPPED == (int)GYRE_OUTCOME_DROPPED, "dropped");
_Static_assert((int)GYRE_WAS_UNHANDLED == (int)GYRE_OUTCOME_UNHANDLED, "unhandled");

/* What stands at the cursor. The sequence is read before the mark: a completion makes its request's mark
 * visible. */
enum cursor_state {
    CURSOR_EMPTY, /* nothing is complete there yet */
    CURSOR_READY, /* a completion for a receiver */
    CURSOR_CALL   /* a caller's: who did not take it yet, or did, and it is to be stepped over */
};

static enum cursor_state cursor_state(const gyre_queue *queue, uint64_t index)
{
    if (!gyre_reply_ready(queue, index))
        return CURSOR_EMPTY;
    return gyre_mark_get(queue, index) == GYRE_MARK_SEND ? CURSOR_READY : CURSOR_CALL;
}

/*
 * The call at the cursor ended. The mark is asked first, and mostly alone: the reply slot's line is the
 * device's to write next, and a look at it would cost the next call a journey of that line.
 */
static bool call_finished(const gyre_queue *queue, uint64_t index)
{
    uint8_t mark = gyre_mark_get(queue, index);
    return mark == GYRE_MARK_DONE || (mark == GYRE_MARK_ABANDONED && gyre_reply_ready(queue, index));
}

/* What calls that are stepped over held besides their slots. */
static void give_back(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (queue->bridge)
        gyre_bridge_give_back(queue, first, end);
    if (queue->spans)
        gyre_queue_spans_done(queue, first, end);
}

static void step_over_finished_calls(gyre_queue *queue)
{
    uint64_t index = queue->consumer.received, given_up = 0;
    while (call_finished(queue, index)) {
        if (gyre_mark_get(queue, index) == GYRE_MARK_ABANDONED) {
            given_up++;
            gyre_express_settle(queue);
            gyre_queue_take_failure(queue, index);
        }
        gyre_mark_set_locked(queue, index, GYRE_MARK_SEND);
        index++;
    }
    if (__builtin_expect(queue->annotated && index != queue->consumer.received, 0))
        give_back(queue, queue->consumer.received, index);
    if (index != queue->consumer.received)
        __atomic_store_n(&queue->consumer.received, index, __ATOMIC_RELEASE); /* pairs with gyre_received */
    if (given_up)
        __atomic_fetch_add(&queue->consumer.abandoned, given_up,
                           __ATOMIC_RELEASE); /* pairs with the statistics */
}

/*
 * Moves the cursor over what a receiver took. A message that its device dropped for a sender counts as
 * dropped whoever steps over it: that sender, or, when it was quicker, the receiver who was told.
 */
static void advance(gyre_queue *queue, uint64_t end, uint64_t dropped)
{
    if (__builtin_expect(queue->annotated, 0)) {
        gyre_queue_note_taken(queue, queue->consumer.received, end);
        if (queue->spans)
            gyre_queue_spans_done(queue, queue->consumer.received, end);
    }
    __atomic_store_n(&queue->consumer.received, end, __ATOMIC_RELEASE); /* pairs with gyre_received */
    if (__builtin_expect(dropped != 0, 0))
        __atomic_fetch_add(&queue->consumer.dropped, dropped, __ATOMIC_RELEASE); /* ... with the statistics */
}

static bool was_dropped(const gyre_queue *queue, uint64_t index)
{
    return gyre_reply_slot(queue, index)->info == GYRE_OUTCOME_DROPPED;
}

void gyre_consumer_give(gyre_queue *queue)
{
    for (;;) {
        step_over_finished_calls(queue);
        if (queue->watch)
            gyre_queue_watch_settle(queue);
        if (!queue->many_threads) {
            gyre_side_leave(&queue->consumer.busy);
            break;
        }
        gyre_lock_give(&queue->consumer.lock);
        /* A caller that finished meanwhile found the lock taken and left its slot to us: see lock.h. */
        if (!call_finished(queue, gyre_received(queue)) || !gyre_lock_try(&queue->consumer.lock))
            break;
    }
    gyre_queue_ring_credit(queue);
}

/* The device cannot format: which type it was stands in the request, whose slot is not given back yet. */
static void name_type(const gyre_queue *queue, uint64_t index, gyre_completion *completion)
{
    uint32_t number;
    const unsigned char *request = gyre_request_payload(queue, gyre_request_slot(queue, index));
    memcpy(&number, request + sizeof number, sizeof number);
    snprintf(completion->failure_text, sizeof completion->failure_text, "no handler for type number %u",
             number);
}

/* The fields of a completion. `info` and `length` were read off the slot, checked, and are not read there again. */
static void read_completion(const gyre_queue *queue, uint64_t index, uint32_t info, uint32_t length,
                            gyre_completion *completion)
{
    const gyre_slot *slot = gyre_reply_slot(queue, index);
    completion->index = queue->levels ? gyre_queue_ticket(queue, index) : index;
    completion->outcome = (gyre_completion_outcome)info;
    completion->failure_code = 0;
    completion->length = length;
    completion->failure_text[0] = '\0';
    if (info == GYRE_OUTCOME_FAILED) {
        gyre_failure failure;
        memcpy(&failure, slot + 1, sizeof failure);
        failure.text[sizeof failure.text - 1] = '\0';
        if (failure.text[sizeof failure.text - 2])
            gyre_text_end_whole(failure.text);
        memcpy(completion->failure_text, failure.text, sizeof failure.text);
        completion->failure_code = failure.code;
        if (failure.code == GYRE_FAILURE_TYPE)
            name_type(queue, index, completion);
    }
}

gyre_status gyre_queue_tell_outcome(const gyre_queue *queue, const gyre_completion *completion)
{
    const unsigned long long index = completion->index;
    switch (completion->outcome) {
    case GYRE_HANDLER_FAILED:
        return gyre_error_set(GYRE_FAILED, "the handler failed request %llu with code %d: %s", index,
                              completion->failure_code, completion->failure_text);
    case GYRE_NOT_REPLIED:
        return gyre_error_set(GYRE_FAILED, "the handler did not reply to request %llu", index);
    default:
        if (gyre_queue_gone(queue))
            return gyre_error_add(gyre_queue_tell_lost(queue), "request %llu was not handled", index);
        return gyre_error_set(GYRE_CLOSED,
                              "request %llu was not handled: its kernel was terminated or dropped it", index);
    }
}

static gyre_status outcome_error(const gyre_queue *queue, uint64_t index, uint32_t info)
{
    gyre_completion completion;
    read_completion(queue, index, info, 0, &completion);
    return gyre_queue_tell_outcome(queue, &completion);
}

gyre_status gyre_queue_read_reply(gyre_queue *queue, uint64_t index, void *reply, size_t size,
                                  gyre_completion *completion)
{
    if (__builtin_expect(queue->seals != NULL, 0))
        gyre_queue_seals_look(queue, index, index + 1);
    const gyre_slot *slot = gyre_reply_slot(queue, index);
    uint32_t info = gyre_slot_info(slot);
    if (__builtin_expect(!gyre_outcome_is_known(info), 0))
        info = (gyre_queue_outcomes_look(queue, index, index + 1), GYRE_OUTCOME_FAILED);
    uint32_t length = info == GYRE_OUTCOME_REPLY ? gyre_slot_length(slot) : 0;
    if (length > queue->reply_size)
        return gyre_error_set(GYRE_INTERNAL,
                              "reply %llu claims %u bytes in a slot for %u: the backend wrote nonsense",
                              (unsigned long long)index, length, queue->reply_size);
    const unsigned char *bytes = gyre_reply_payload(queue->bridge, slot, length);
    if (!bytes)
        return gyre_error_set(GYRE_INTERNAL, "reply %llu lies nowhere: the backend wrote nonsense",
                              (unsigned long long)index);
    if (queue->packets)
        bytes = gyre_packet_bytes(bytes, &length);
    if (length && queue->reply_growth.callers) {
        gyre_status status = gyre_queue_shrink_reply(queue, bytes, &length, reply, size);
        if (status != GYRE_OK)
            return status;
        bytes = reply;
    }
    if (length > size && size && size == queue->caller_reply_size)
        length = (uint32_t)size; /* what the caller does not know is left out */
    if (length > size)
        return gyre_error_set(GYRE_INVALID,
                              "the reply has %u bytes and the caller's buffer %zu: pass a larger one", length,
                              size);
    if (length && bytes != reply)
        gyre_payload_copy(reply, bytes, length);
    if (info == GYRE_OUTCOME_FAILED) {
        gyre_queue_take_failure(queue, index);
        if (gyre_slot_info(slot) == GYRE_OUTCOME_UNHANDLED) /* levels may know better */
            info = GYRE_OUTCOME_UNHANDLED;
    }
    if (completion)
        read_completion(queue, index, info, length, completion);
    else if (info != GYRE_OUTCOME_REPLY)
        return outcome_error(queue, index, info);
    return GYRE_OK;
}

/* The completion of `index`, if it is there for a receiver, and a reply that is copied and nothing else. */
static inline bool take_reply(const gyre_queue *queue, const struct gyre_queue_bridge *bridge, uint64_t index,
                              void *reply, size_t size)
{
    uint32_t length;
    return gyre_reply_ready(queue, index) && gyre_mark_get(queue, index) == GYRE_MARK_SEND &&
           gyre_reply_copy(queue, bridge, gyre_reply_slot(queue, index), reply, size, &length);
}

/* Takes what is there, up to `count`; the lock is held. A failure ends the batch, and stands alone if it is
 * first. */
static gyre_status take_ready(gyre_queue *queue, unsigned char *replies, size_t size, size_t count,
                              gyre_completion *completions, size_t *received)
{
    gyre_status status = GYRE_OK;
    const struct gyre_queue_bridge *const bridge = queue->bridge;
    uint64_t index = queue->consumer.received, dropped = 0;
    size_t taken = 0;
    for (; !completions && taken < count && take_reply(queue, bridge, index, replies + taken * size, size);
         taken++)
        index++;
    while (taken < count && cursor_state(queue, index) == CURSOR_READY) {
        bool last = !completions && gyre_reply_slot(queue, index)->info != GYRE_OUTCOME_REPLY;
        if (last && taken)
            break;
        status = gyre_queue_read_reply(queue, index, replies + taken * size, size,
                                       completions ? &completions[taken] : NULL);
        if (status == GYRE_INVALID || status == GYRE_INTERNAL) {
            status = taken ? GYRE_OK : status; /* it is not consumed and stands first in the next batch */
            break;
        }
        dropped += was_dropped(queue, index);
        index++;
        taken++;
        if (status != GYRE_OK)
            break;
    }
    advance(queue, index, dropped);
    *received = taken;
    return status;
}

/* Waits until the cursor is worth another look. */
static gyre_status wait_at_cursor(gyre_queue *queue, uint64_t index, uint64_t deadline_ns)
{
    if (deadline_ns == GYRE_NO_WAIT)
        return gyre_queue_look(queue, gyre_wait_reply, index);
    __atomic_fetch_add(&queue->consumer.waits, 1, __ATOMIC_RELAXED);
    if (!gyre_wait_turn(queue, index))
        return gyre_queue_wait(queue, gyre_wait_turn, index, GYRE_BELL_CREDIT, deadline_ns);
    return gyre_queue_wait(queue, gyre_wait_reply, index, GYRE_BELL_DEVICE, deadline_ns);
}

/* What a receiver is told who found nothing; the wait has set the rest. */
static gyre_status nothing_taken(gyre_queue *queue, gyre_status status)
{
    char label[96];
    if ((status != GYRE_AGAIN && status != GYRE_TIMEOUT) ||
        !__atomic_load_n(&queue->consumer.peeking, __ATOMIC_RELAXED)) /* only words depend on it */
        return status;
    return gyre_error_set(status,
                          "%s has a peek that was not released yet; release it, also with a count of 0",
                          gyre_queue_label(queue, label, sizeof label));
}

/* Where completions go, and how many at most. */
struct taking {
    void *replies;
    size_t size, count;
    gyre_completion *completions; /* NULL: a failure ends the batch, and is told by the status */
    gyre_message_info *info;      /* of the first one; may be NULL */
};

/* A batch of a queue whose receivers take whatever is there: only the first one is waited for. Without a
 * place for completions each stands alone, since a failure that was taken is told by the status. */
__attribute__((noinline)) static gyre_status receive_any(gyre_queue *queue, const struct taking *taking,
                                                         size_t *received, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    gyre_completion *const completions = taking->completions;
    const size_t size = taking->size, most = completions ? taking->count : 1;
    unsigned char nowhere = 0, *const replies = taking->replies ? taking->replies : &nowhere;
    while (status == GYRE_OK && *received < most) {
        status = gyre_queue_receive_any(
            queue, replies + *received * size, size, completions ? &completions[*received] : NULL,
            *received ? NULL : taking->info, *received ? GYRE_NO_WAIT : deadline_ns);
        *received += status == GYRE_OK || status == GYRE_FAILED;
    }
    return completions && *received ? GYRE_OK : status;
}

static inline gyre_status receive(gyre_queue *queue, const struct taking *taking, size_t *received,
                                  uint64_t deadline_ns)
{
    gyre_message_info *const info = taking->info;
    if (!queue || !received || (!taking->replies && taking->size))
        return GYRE_ARGUMENTS("gyre_receive", {"queue", queue}, {"received", received},
                              {"reply", taking->replies || !taking->size});
    *received = 0;
    if (taking->count == 0)
        return GYRE_OK;
    if (__builtin_expect(queue->any_order, 0))
        return receive_any(queue, taking, received, deadline_ns);
    gyre_status status = GYRE_OK;
    bool inside = false;
    unsigned char nowhere = 0; /* replies of no bytes go there */
    do {
        if (__builtin_expect(queue->levels != NULL, 0))
            gyre_queue_levels_move(queue);
        gyre_consumer_take(queue);
        if (info)
            queue->consumer.wanted = info;
        if (!queue->consumer.peeking)
            status = take_ready(queue, taking->replies ? taking->replies : &nowhere, taking->size,
                                taking->count, taking->completions, received);
        if (info)
            queue->consumer.wanted = NULL;
        gyre_consumer_give(queue);
        if (*received || status != GYRE_OK)
            break;
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = wait_at_cursor(queue, gyre_received(queue), deadline_ns);
    } while (status == GYRE_OK);
    gyre_queue_leave(queue, inside);
    return status == GYRE_OK ? status : nothing_taken(queue, status);
}

gyre_status gyre_receive_batch(gyre_queue *queue, void *replies, size_t size, size_t count,
                               gyre_completion *completions, size_t *received, uint64_t deadline_ns)
{
    const struct taking taking = {replies, size, count, completions, NULL};
    return receive(queue, &taking, received, deadline_ns);
}

gyre_status gyre_receive_with(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                              gyre_message_info *info, uint64_t deadline_ns)
{
    const struct taking taking = {reply, size, 1, completion, info};
    size_t received = 0;
    if (info && info->size < sizeof info->size)
        return gyre_error_set(GYRE_INVALID, "gyre_receive_with needs an info with its size set");
    return receive(queue, &taking, &received, deadline_ns);
}

gyre_status gyre_receive(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                         uint64_t deadline_ns)
{
    const struct taking taking = {reply, size, 1, completion, NULL};
    size_t received = 0;
    return receive(queue, &taking, &received, deadline_ns);
}

/*
 * Who takes many replies at once, and found as many the last time, asks for their lines ahead of reading them:
 * what another processor or a device wrote is far away, and a processor waits for a few lines at a time only.
 * 0: few are expected, and lines that are still to be written are left where they are.
 */
static uint64_t lines_ahead(const gyre_queue *queue, size_t count)
{
    enum { MANY = 64, BYTES_AHEAD = 32 * 64 };
    return count >= MANY && queue->consumer.peeked == count ? BYTES_AHEAD / queue->reply_stride : 0;
}

/* Of a message that the device told no outcome of. `readable`: bytes of a slot whose length tells nothing. */
static void show_nonsense(gyre_queue *queue, gyre_view *view, uint32_t readable)
{
    if (gyre_outcome_is_known((uint32_t)view->outcome))
        return;
    gyre_queue_outcomes_look(queue, view->index, view->index + 1);
    view->reply = gyre_reply_slot(queue, view->index) + 1;
    view->outcome = GYRE_HANDLER_FAILED;
    view->length = sizeof(gyre_failure) <= queue->reply_size ? (uint32_t)sizeof(gyre_failure) : readable;
}

/* Of a queue with levels: its views say tickets, and what their completions say since somebody looked at them. */
static void show_levels(const gyre_queue *queue, gyre_view *views, uint64_t first, size_t found)
{
    for (size_t i = 0; i < found; i++) {
        views[i].index = gyre_queue_ticket(queue, first + i);
        if (gyre_reply_slot(queue, first + i)->info != GYRE_OUTCOME_UNHANDLED)
            continue;
        views[i].outcome = GYRE_WAS_UNHANDLED;
        views[i].length = 0;
    }
}

/* Views of what is there; the lock is held. Each header is read once, and what does not change is kept. */
static size_t view_ready(gyre_queue *queue, gyre_view *views, size_t count)
{
    const unsigned char *const replies = queue->replies;
    const uint8_t *const marks = queue->marks;
    const struct gyre_queue_bridge *const bridge = queue->bridge;
    const uint64_t mask = queue->mask, first = queue->consumer.received;
    const uint32_t stride = queue->reply_stride, reply_size = queue->reply_size;
    const uint32_t readable = bridge && bridge->replies ? 0 : reply_size; /* of a length that is nonsense */
    uint32_t outcomes = 0;
    if (__builtin_expect(queue->seals != NULL, 0))
        gyre_queue_seals_look(queue, first, first + count);
    const uint64_t ahead = lines_ahead(queue, count);
    size_t found = 0;
    for (; found < count; found++) {
        const uint64_t index = first + found, place = index & mask;
        if (ahead)
            __builtin_prefetch(replies + ((index + ahead) & mask) * stride);
        const gyre_slot *slot = (const gyre_slot *)(const void *)(replies + place * stride);
        /* as in cursor_state: the sequence before the mark */
        if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != index + 1 ||
            __atomic_load_n(&marks[place], __ATOMIC_SEQ_CST) != GYRE_MARK_SEND)
            break;
        const uint32_t length = gyre_slot_length(slot), info = gyre_slot_info(slot);
        outcomes |= info - GYRE_OUTCOME_REPLY; /* replies leave no bits */
        const void *payload = length <= reply_size ? gyre_reply_payload(bridge, slot, length) : slot + 1;
        views[found] = (gyre_view){.reply = payload ? payload : slot + 1,
                                   .index = index,
                                   .outcome = (gyre_completion_outcome)info,
                                   .length = length <= reply_size && payload ? length : readable};
    }
    const bool odd = outcomes >= GYRE_OUTCOME_UNHANDLED - GYRE_OUTCOME_REPLY;
    for (size_t i = 0; __builtin_expect(odd, 0) && i < found; i++)
        show_nonsense(queue, &views[i], readable);
    for (size_t i = 0; queue->packets && i < found; i++)
        if (views[i].outcome == GYRE_REPLIED)
            views[i].reply = gyre_packet_bytes(views[i].reply, &views[i].length);
    queue->consumer.peeked = found;
    gyre_peeking_set(queue, found > 0);
    /* its bit also comes of one that was dropped: one look more */
    queue->consumer.failures = odd || (outcomes & (GYRE_OUTCOME_FAILED - GYRE_OUTCOME_REPLY)) != 0;
    if (__builtin_expect(queue->consumer.failures, 0))
        gyre_queue_show_failures(queue, first, first + found);
    if (__builtin_expect(queue->levels != NULL, 0))
        show_levels(queue, views, first, found);
    return found;
}

gyre_status gyre_peek(gyre_queue *queue, gyre_view *views, size_t count, size_t *found, uint64_t deadline_ns)
{
    if (!queue || !views || !found || count == 0)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_peek needs a queue, views, their number and a place for the answer");
    *found = 0;
    gyre_status status = GYRE_OK;
    bool inside = false;
    do {
        if (__builtin_expect(queue->levels != NULL, 0))
            gyre_queue_levels_move(queue);
        gyre_consumer_take(queue);
        if (!queue->consumer.peeking)
            *found = view_ready(queue, views, count);
        gyre_consumer_give(queue);
        if (*found)
            break;
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = wait_at_cursor(queue, gyre_received(queue), deadline_ns);
    } while (status == GYRE_OK);
    gyre_queue_leave(queue, inside);
    return status == GYRE_OK ? status : nothing_taken(queue, status);
}

gyre_status gyre_release_views(gyre_queue *queue, size_t count)
{
    gyre_status status = GYRE_OK;
    if (!queue)
        return gyre_error_set(GYRE_INVALID, "gyre_release_views needs a queue");
    gyre_consumer_take(queue);
    if (!queue->consumer.peeking || count > queue->consumer.peeked) {
        status = gyre_error_set(GYRE_INVALID, "asked to release %zu view%s, which is more than were peeked",
                                count, gyre_text_plural(count));
    } else {
        uint64_t index = queue->consumer.received, end = index + count, dropped = 0;
        for (; queue->policy == GYRE_FULL_DROP_OLDEST && index != end; index++)
            dropped += was_dropped(queue, index);
        if (__builtin_expect(queue->consumer.failures, 0))
            gyre_queue_take_failures(queue, queue->consumer.received, end);
        advance(queue, end, dropped);
        gyre_peeking_set(queue, false);
    }
    gyre_consumer_give(queue);
    return status;
}
