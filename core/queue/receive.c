/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives completions by copy, in the order of the sends. peek.c gives views of completions; match.c receives out of turn.
 *
 * Locks: consumer.lock while slots are read; never across a wait. The cursor `received` moves only under it.
 */
#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/consumer.h"
#include "core/queue/cursor.h"
#include "core/queue/line.h"
#include "core/queue/mark.h"
#include "core/queue/match.h"
#include "core/queue/side.h"
#include "core/queue/take.h"
#include "core/ring/publish.h"

/* The state of the slot at the cursor. The slot's sequence is read before its mark, because a thread that sees the completion
 * also sees the mark. */
enum cursor_state {
    CURSOR_EMPTY, /* no completion is there yet */
    CURSOR_READY, /* a completion for a receiver */
    CURSOR_CALL   /* the reply to a call; it is stepped over once the caller took it */
};

static enum cursor_state cursor_state(const gyre_queue *queue, uint64_t index)
{
    if (!gyre_reply_ready(&queue->ring, index))
        return CURSOR_EMPTY;
    return gyre_mark_get(queue, index) == GYRE_MARK_SEND ? CURSOR_READY : CURSOR_CALL;
}

/* A receiver's places for replies and completions. */
struct taking {
    void *replies;
    size_t size, count;
    gyre_completion *completions; /* NULL: a failure ends the batch, and the status tells it */
    gyre_message_info *info;      /* for the first completion; may be NULL */
};

/* Copies the reply to request `index`, if it is there for a receiver and needs only copying; else returns false. Inlined into
 * both loops below, because a call for each message costs streams some percent. */
GYRE_INLINE bool reply_take_quick(const gyre_queue *queue, const struct gyre_ring_bytes *bytes,
                                  uint64_t index, void *reply, size_t size, uint32_t *length)
{
    return gyre_reply_ready(&queue->ring, index) && gyre_mark_get(queue, index) == GYRE_MARK_SEND &&
           gyre_reply_copy(queue, bytes, gyre_reply_slot(&queue->ring, index), reply, size, length);
}

/* Takes replies from the cursor on, as long as each needs only copying; returns how many. */
static inline size_t replies_take_quick(const gyre_queue *queue, const struct taking *taking, size_t count,
                                        unsigned char *replies)
{
    const struct gyre_ring_bytes *const bytes = queue->ring.bytes;
    gyre_completion *const completions = taking->completions;
    const uint64_t first = queue->consumer.received;
    const size_t size = taking->size;
    size_t taken = 0;
    uint32_t length;
    if (!completions) {
        while (taken < count &&
               reply_take_quick(queue, bytes, first + taken, replies + taken * size, size, &length))
            taken++;
        return taken;
    }
    if (__builtin_expect(queue->line != NULL, 0)) /* completions need the tickets */
        return 0;
    while (taken < count &&
           reply_take_quick(queue, bytes, first + taken, replies + taken * size, size, &length)) {
        gyre_completion_replied(&completions[taken], first + taken, length);
        taken++;
    }
    return taken;
}

/* Moves the cursor over the completions that a receiver took. Fills in `info` about the first message. */
static inline void replies_leave(gyre_queue *queue, uint64_t end, uint64_t dropped, gyre_message_info *info)
{
    const uint64_t first = queue->consumer.received;
    gyre_replies_taken(queue, first, end);
    if (first != end)
        GYRE_PROBE3(received, gyre_queue_name(queue), first, end - first);
    if (info && first != end)
        gyre_reply_tell(queue, first, info);
    gyre_replies_pass(queue, end, dropped);
}

/* Takes up to `count` completions that are there, under the lock. If the receiver gave no place for completions, a failed
 * message is a batch of its own, and ends the batch of the messages before it. A message that the device dropped for a
 * sender is counted as dropped by the thread that steps over it: that sender, or a receiver that was quicker. */
static gyre_status replies_take(gyre_queue *queue, const struct taking *taking, unsigned char *replies,
                                size_t *received)
{
    gyre_status status = GYRE_OK;
    gyre_completion *const completions = taking->completions;
    const size_t size = taking->size, count = gyre_consumer_most(queue, taking->count);
    size_t taken = replies_take_quick(queue, taking, count, replies);
    uint64_t index = queue->consumer.received + taken, dropped = 0;
    while (taken < count && cursor_state(queue, index) == CURSOR_READY) {
        bool last = !completions && gyre_reply_slot(&queue->ring, index)->info != GYRE_OUTCOME_REPLY;
        if (last && taken)
            break;
        status = gyre_queue_read_reply(queue, index, replies + taken * size, size,
                                       completions ? &completions[taken] : NULL);
        if (status == GYRE_INVALID || status == GYRE_INTERNAL) {
            status = taken ? GYRE_OK : status; /* the completion stays and is first in the next batch */
            break;
        }
        dropped += gyre_reply_was_dropped(queue, index);
        index++;
        taken++;
        if (status != GYRE_OK)
            break;
    }
    replies_leave(queue, index, dropped, taking->info);
    *received = taken;
    return status;
}

/* Receives a batch from a queue whose receivers take any completion that is there; waits only for the first completion. If
 * the receiver gave no place for completions, the batch is one completion, because the status has to tell a failure. */
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

static inline gyre_status completions_receive(gyre_queue *queue, const struct taking *taking,
                                              size_t *received, uint64_t deadline_ns)
{
    if (!queue || !received || (!taking->replies && taking->size))
        return GYRE_ARGUMENTS("gyre_receive", {"queue", queue}, {"received", received},
                              {"reply", taking->replies || !taking->size});
    *received = 0;
    if (taking->count == 0)
        return GYRE_OK;
    if (__builtin_expect(queue->ways.any_order, 0))
        return receive_any(queue, taking, received, deadline_ns);
    gyre_status status = GYRE_OK;
    bool inside = false;
    unsigned char nowhere = 0; /* the place for replies of no bytes */
    do {
        if (__builtin_expect(queue->line != NULL, 0))
            queue->line->move(queue);
        gyre_consumer_take(queue);
        if (!queue->consumer.peeking)
            status = replies_take(queue, taking, taking->replies ? taking->replies : &nowhere, received);
        gyre_consumer_give(queue);
        if (*received || status != GYRE_OK)
            break;
        gyre_queue_stay(queue, deadline_ns, &inside);
        status = gyre_cursor_wait(queue, gyre_received(queue), deadline_ns);
    } while (status == GYRE_OK);
    gyre_queue_leave(queue, inside);
    return status == GYRE_OK ? status : gyre_cursor_tell_nothing(queue, status);
}

gyre_status gyre_receive_batch(gyre_queue *queue, void *replies, size_t size, size_t count,
                               gyre_completion *completions, size_t *received, uint64_t deadline_ns)
{
    const struct taking taking = {replies, size, count, completions, NULL};
    return completions_receive(queue, &taking, received, deadline_ns);
}

gyre_status gyre_receive_with(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                              gyre_message_info *info, uint64_t deadline_ns)
{
    const struct taking taking = {reply, size, 1, completion, info};
    size_t received = 0;
    if (info && info->size < sizeof info->size)
        return gyre_error_set(GYRE_INVALID, "gyre_receive_with needs an info with its size set");
    return completions_receive(queue, &taking, &received, deadline_ns);
}

gyre_status gyre_receive(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                         uint64_t deadline_ns)
{
    const struct taking taking = {reply, size, 1, completion, NULL};
    size_t received = 0;
    return completions_receive(queue, &taking, &received, deadline_ns);
}
