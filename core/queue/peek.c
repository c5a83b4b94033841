/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives in place (gyre_peek): gives views of completions, in the order of the sends, until the receiver releases them.
 *
 * Locks: consumer.lock while slots are read. Between a peek and its release no lock is held; a flag keeps other receivers
 * off.
 */
#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/base/text.h"
#include "core/queue/consumer.h"
#include "core/queue/convert.h"
#include "core/queue/cursor.h"
#include "core/queue/line.h"
#include "core/queue/mark.h"
#include "core/queue/side.h"
#include "core/queue/take.h"
#include "core/ring/outcome.h"

/*
 * How many replies ahead a receiver prefetches cache lines. A receiver that asks for many replies, and found many the last
 * time, prefetches, because lines that another processor or a device wrote are far away, and a processor waits for only a
 * few lines at a time. 0: few replies are expected, and a prefetch would take lines away that are still to be written.
 */
static uint64_t lines_ahead(const gyre_queue *queue, size_t count)
{
    enum { MANY = 64, BYTES_AHEAD = 32 * 64 };
    return count >= MANY && queue->consumer.peeked == count ? BYTES_AHEAD / queue->ring.slots.reply_stride
                                                            : 0;
}

/* Makes a view show a failure, because the device wrote an unknown outcome or a wrong length. `readable`: how many bytes of
 * such a slot may be read. */
static void view_show_nonsense(gyre_queue *queue, gyre_view *view, uint32_t readable)
{
    if (gyre_outcome_is_known((uint32_t)view->outcome))
        return;
    gyre_outcomes_look(&queue->ring, view->index, view->index + 1);
    view->reply = gyre_reply_slot(&queue->ring, view->index) + 1;
    view->outcome = GYRE_HANDLER_FAILED;
    view->length = sizeof(gyre_failure) <= queue->ring.reply_size ? (uint32_t)sizeof(gyre_failure) : readable;
}

/* For a queue with a line (line.h): puts the tickets of messages into the views, and the outcomes that stages changed when
 * they looked at failures. */
static void views_show_tickets(const gyre_queue *queue, gyre_view *views, uint64_t first, size_t found)
{
    for (size_t i = 0; i < found; i++) {
        views[i].index = queue->line->ticket(queue, first + i);
        if (gyre_reply_slot(&queue->ring, first + i)->info != GYRE_OUTCOME_UNHANDLED)
            continue;
        views[i].outcome = GYRE_WAS_UNHANDLED;
        views[i].length = 0;
    }
}

/* Makes views of the completions that are there; the lock is held. Each slot's header is read once, and constants stay
 * in registers. */
static size_t views_make(gyre_queue *queue, gyre_view *views, size_t most)
{
    const size_t count = gyre_consumer_most(queue, most);
    const unsigned char *const replies = queue->ring.replies;
    const uint8_t *const marks = queue->marks;
    const struct gyre_ring_bytes *const bytes = queue->ring.bytes;
    const uint64_t mask = queue->ring.mask, first = queue->consumer.received;
    const uint32_t stride = queue->ring.slots.reply_stride, reply_size = queue->ring.reply_size;
    const uint32_t readable =
        bytes && bytes->replies ? 0 : reply_size; /* bytes of a slot whose length is wrong */
    uint32_t outcomes = 0;
    gyre_replies_see(queue, first, first + count);
    const uint64_t ahead = lines_ahead(queue, count);
    size_t found = 0;
    for (; found < count; found++) {
        const uint64_t index = first + found, place = index & mask;
        if (ahead)
            __builtin_prefetch(replies + ((index + ahead) & mask) * stride);
        const gyre_slot *slot = (const gyre_slot *)(const void *)(replies + place * stride);
        /* as in receive.c, the sequence is read before the mark */
        if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != index + 1 ||
            __atomic_load_n(&marks[place], __ATOMIC_SEQ_CST) != GYRE_MARK_SEND)
            break;
        const uint32_t length = gyre_slot_length(slot), info = gyre_slot_info(slot);
        outcomes |= info - GYRE_OUTCOME_REPLY; /* a reply adds no bit, any other outcome does */
        const void *payload = length <= reply_size ? gyre_reply_payload(bytes, slot, length) : slot + 1;
        views[found] = (gyre_view){.reply = payload ? payload : slot + 1,
                                   .index = index,
                                   .outcome = (gyre_completion_outcome)info,
                                   .length = length <= reply_size && payload ? length : readable};
    }
    const bool odd = outcomes >= GYRE_OUTCOME_UNHANDLED - GYRE_OUTCOME_REPLY;
    for (size_t i = 0; __builtin_expect(odd, 0) && i < found; i++)
        view_show_nonsense(queue, &views[i], readable);
    for (size_t i = 0; queue->forms.packets && i < found; i++)
        if (views[i].outcome == GYRE_REPLIED)
            views[i].reply = gyre_packet_bytes(views[i].reply, &views[i].length);
    queue->consumer.peeked = found;
    gyre_peeking_set(queue, found > 0);
    /* a dropped message sets the same bit, which only costs one more look */
    queue->consumer.failures = odd || (outcomes & (GYRE_OUTCOME_FAILED - GYRE_OUTCOME_REPLY)) != 0;
    if (__builtin_expect(queue->consumer.failures, 0))
        gyre_failures_show(queue, first, first + found);
    if (__builtin_expect(queue->line != NULL, 0))
        views_show_tickets(queue, views, first, found);
    return found;
}

gyre_status gyre_peek(gyre_queue *queue, gyre_view *views, size_t count, size_t *found, uint64_t deadline_ns)
{
    if (!queue || !views || !found)
        return GYRE_ARGUMENTS("gyre_peek", {"queue", queue}, {"views", views}, {"found", found});
    if (count == 0)
        return gyre_error_set(GYRE_INVALID, "gyre_peek: 'count' is 0: ask for one view at least");
    *found = 0;
    gyre_status status = GYRE_OK;
    bool inside = false;
    do {
        if (__builtin_expect(queue->line != NULL, 0))
            queue->line->move(queue);
        gyre_consumer_take(queue);
        if (!queue->consumer.peeking)
            *found = views_make(queue, views, count);
        gyre_consumer_give(queue);
        if (*found)
            break;
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = gyre_cursor_wait(queue, gyre_received(queue), deadline_ns);
    } while (status == GYRE_OK);
    gyre_queue_leave(queue, inside);
    return status == GYRE_OK ? status : gyre_cursor_tell_nothing(queue, status);
}

static void take_failures(gyre_queue *queue, uint64_t first, uint64_t end)
{
    gyre_failures_take(queue, first, end);
    gyre_failures_trace(queue, first, end);
}

gyre_status gyre_release_views(gyre_queue *queue, size_t count)
{
    gyre_status status = GYRE_OK;
    if (!queue)
        return gyre_error_set(GYRE_INVALID, "gyre_release_views needs a queue");
    gyre_consumer_take(queue);
    if (!queue->consumer.peeking || count > queue->consumer.peeked) {
        status =
            gyre_error_set(GYRE_INVALID, "gyre_release_views was given %zu view%s, more than gyre_peek gave",
                           count, gyre_text_plural(count));
    } else {
        uint64_t index = queue->consumer.received, end = index + count, dropped = 0;
        for (; queue->ways.policy == GYRE_FULL_DROP_OLDEST && index != end; index++)
            dropped += gyre_reply_was_dropped(queue, index);
        if (__builtin_expect(queue->consumer.failures, 0))
            take_failures(queue, queue->consumer.received, end);
        gyre_replies_taken(queue, queue->consumer.received, end);
        if (count)
            GYRE_PROBE3(received, gyre_queue_name(queue), queue->consumer.received, (uint64_t)count);
        gyre_replies_pass(queue, end, dropped);
        gyre_peeking_set(queue, false);
    }
    gyre_consumer_give(queue);
    return status;
}
