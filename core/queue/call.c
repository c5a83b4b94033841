/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes calls (gyre_call): one function sends a request and waits for its reply. Any number of threads may call, beside
 * senders and receivers of the same queue.
 *
 * The reply of index i is always in reply slot i, so a caller waits for its own slot and needs no table. Its mark keeps
 * receivers off the slot. When the caller took the reply, or gave up, a holder of the consumer lock steps over the slot
 * in its turn (gyre_consumer_give).
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/admit.h"
#include "core/queue/bells.h"
#include "core/queue/check.h"
#include "core/queue/consumer.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/mark.h"
#include "core/queue/post.h"
#include "core/queue/put.h"
#include "core/queue/room.h"
#include "core/queue/side.h"
#include "core/queue/take.h"
#include "core/queue/ticket.h"
#include "core/queue/wait.h"
#include "core/ring/express.h"

/*
 * Marks the slot, so that a holder of the consumer lock steps over it: this thread, if it gets the lock, else the thread that
 * has the lock. That thread looks for marks after it has given the lock back. It must see this mark if this thread's second
 * try fails, hence the full barrier of gyre_mark_set between the mark and the second try.
 */
static void leave_slot(gyre_queue *queue, uint64_t index, enum gyre_mark mark)
{
    if (gyre_consumer_try(queue)) {
        gyre_mark_set_locked(queue, index, mark);
        gyre_consumer_give(queue);
        return;
    }
    gyre_mark_set(queue, index, mark);
    if (gyre_consumer_try(queue))
        gyre_consumer_give(queue);
    else
        gyre_queue_ring_credit(queue);
}

/* As send_call, when there was no room, or other senders wait for room. */
__attribute__((noinline)) static gyre_status send_call_in_line(gyre_queue *queue,
                                                               const struct gyre_outgoing *request,
                                                               uint64_t *index, uint64_t deadline_ns)
{
    struct gyre_sender sender = {0};
    gyre_status status = GYRE_OK;
    uint64_t granted = 0;
    while (status == GYRE_OK) {
        gyre_producer_take(queue);
        const bool is_closed = gyre_queue_closed(queue);
        if (!is_closed && gyre_senders_admit(queue, &sender, 1)) {
            *index = queue->producer.sent;
            granted = gyre_queue_put(queue, request, GYRE_MARK_CALL);
        }
        if (granted)
            gyre_senders_passed(queue, &sender);
        gyre_producer_give(queue);
        if (granted)
            break;
        const uint64_t bytes = gyre_queue_bytes_for(queue, request->bytes, request->size);
        status = is_closed ? gyre_queue_tell_closed(queue)
                           : gyre_queue_make_room(queue, &sender, bytes, deadline_ns);
    }
    if (granted) {
        gyre_queue_ring_doorbell(queue, 1);
        GYRE_PROBE3(sent, gyre_queue_name(queue), *index, granted);
    }
    gyre_senders_leave(queue, &sender);
    return status;
}

static gyre_status send_call(gyre_queue *queue, const struct gyre_outgoing *request, uint64_t *index,
                             uint64_t deadline_ns, bool *inside)
{
    if (__builtin_expect(queue->ways.detour, 0))
        return gyre_queue_post(queue, request, GYRE_MARK_CALL, index, deadline_ns, inside);
    uint64_t granted = 0;
    gyre_producer_take(queue);
    if (!gyre_queue_closed(queue) && !queue->producer.barred) {
        *index = queue->producer.sent;
        granted = gyre_queue_put(queue, request, GYRE_MARK_CALL);
    }
    gyre_producer_give(queue);
    gyre_queue_stay(queue, deadline_ns, inside);
    if (__builtin_expect(granted == 0, 0))
        return send_call_in_line(queue, request, index, deadline_ns);
    gyre_queue_ring_doorbell(queue, 1);
    GYRE_PROBE3(sent, gyre_queue_name(queue), *index, granted);
    return GYRE_OK;
}

/* Adds the number of the call's request to the sentence of a call that ended with `status`. */
static gyre_status add_unanswered(gyre_status status, uint64_t number)
{
    return gyre_error_add(status, "request %llu was sent and not answered%s", (unsigned long long)number,
                          status == GYRE_TIMEOUT ? " in time" : "");
}

/* A call: its request, and the caller's places for the reply, the completion and the info. The latter two may be NULL. */
struct exchange {
    struct gyre_outgoing request; /* one */
    void *reply;
    size_t reply_size;
    gyre_completion *completion;
    gyre_message_info *info;
};

static gyre_status read_reply(gyre_queue *queue, uint64_t index, const struct exchange *exchange)
{
    const gyre_slot *slot = gyre_reply_slot(&queue->ring, index);
    uint32_t length;
    if (__builtin_expect(queue->line != NULL, 0) || /* a completion needs the ticket */
        !gyre_reply_copy(queue, queue->ring.bytes, slot, exchange->reply, exchange->reply_size, &length))
        return gyre_queue_read_reply(queue, index, exchange->reply, exchange->reply_size,
                                     exchange->completion);
    if (exchange->completion)
        gyre_completion_replied(exchange->completion, index, length);
    return GYRE_OK;
}

/* Takes a reply out of the express lines (express.h). */
static gyre_status take_express(gyre_queue *queue, uint64_t index, const struct exchange *exchange)
{
    const uint32_t quick = queue->ways.quick_reply_size;
    uint32_t length;
    if (!gyre_express_take(&queue->ring, index, exchange->reply,
                           exchange->reply_size < quick ? exchange->reply_size : quick, &length)) {
        gyre_express_settle(&queue->ring);
        return gyre_queue_read_reply(queue, index, exchange->reply, exchange->reply_size,
                                     exchange->completion);
    }
    if (exchange->completion)
        gyre_completion_replied(exchange->completion, index, length);
    return GYRE_OK;
}

/* Tells the caller the index of its unanswered request; UINT64_MAX: the request was not sent. */
static void tell_unanswered(const struct exchange *exchange, uint64_t index)
{
    if (exchange->completion)
        *exchange->completion = (gyre_completion){.index = index};
}

/* In a queue with levels (line.h): waits until the call's reply is in the ring, or gives the call up. *index: before, the
 * call's ticket, which the caller knows its request by; after, the index of its slot. */
static gyre_status await_ticket(gyre_queue *queue, uint64_t *index, const struct exchange *exchange,
                                uint64_t deadline_ns)
{
    const uint64_t ticket = *index;
    gyre_status status = gyre_queue_wait(queue, gyre_wait_ticket, ticket, GYRE_BELL_DEVICE, deadline_ns);
    gyre_producer_take(queue);
    const bool found = gyre_ticket_find(queue, ticket, index);
    if (!found)
        queue->line->abandon(queue, ticket);
    gyre_producer_give(queue);
    if (status == GYRE_OK)
        return status;
    if (found)
        leave_slot(queue, *index, GYRE_MARK_ABANDONED);
    tell_unanswered(exchange, ticket);
    return add_unanswered(status, ticket);
}

/* Waits for the reply to request `index`, which was sent, and takes it; or gives the call up. */
static gyre_status take_reply(gyre_queue *queue, uint64_t index, const struct exchange *exchange,
                              uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    if (!gyre_reply_ready(&queue->ring, index))
        status = gyre_queue_wait(queue, gyre_wait_reply, index, GYRE_BELL_DEVICE, deadline_ns);
    if (status != GYRE_OK) {
        leave_slot(queue, index, GYRE_MARK_ABANDONED);
        tell_unanswered(exchange, index);
        return add_unanswered(status, index);
    }
    if (__builtin_expect(queue->ring.express_replies != NULL, 0) && !gyre_reply_in_slot(&queue->ring, index))
        status = take_express(queue, index, exchange);
    else
        status = read_reply(queue, index, exchange);
    gyre_replies_taken(queue, index, index + 1);
    GYRE_PROBE3(received, gyre_queue_name(queue), index, UINT64_C(1));
    if (exchange->info)
        gyre_reply_tell(queue, index, exchange->info);
    leave_slot(queue, index, GYRE_MARK_DONE);
    return status;
}

static gyre_status check_exchange(const gyre_queue *queue, const struct exchange *exchange)
{
    const uint64_t size = exchange->reply_size;
    char label[GYRE_LABEL_SIZE];
    if (!queue || (!exchange->request.bytes && !gyre_queue_takes_nothing(queue)) ||
        (!exchange->reply && size))
        return GYRE_ARGUMENTS(
            "gyre_call", {"queue", queue},
            {"request", exchange->request.bytes || (queue && gyre_queue_takes_nothing(queue))},
            {"reply", exchange->reply || !size});
    const uint64_t longest =
        queue->forms.reply_growth.callers ? queue->forms.reply_growth.callers->size : queue->forms.reply_room;
    if (size < longest && (size == 0 || size != queue->forms.caller_reply_size))
        return gyre_error_set(
            GYRE_INVALID,
            "replies of %s have up to %llu bytes, and the caller's buffer %llu: pass a larger one",
            gyre_queue_label(queue, label, sizeof label), (unsigned long long)longest,
            (unsigned long long)size);
    return GYRE_OK;
}

__attribute__((noinline)) static gyre_status exchange_make(gyre_queue *queue, struct exchange *exchange,
                                                           uint64_t deadline_ns)
{
    uint64_t index = 0;
    bool inside = false;
    void *converted = NULL;
    gyre_status status = check_exchange(queue, exchange);
    if (status != GYRE_OK) {
        tell_unanswered(exchange, UINT64_MAX);
        return status;
    }
    if (__builtin_expect(!gyre_queue_is_direct(queue, exchange->request.size), 0))
        status = gyre_queue_admit(queue, &exchange->request, deadline_ns, &converted);
    if (status == GYRE_OK)
        status = send_call(queue, &exchange->request, &index, deadline_ns, &inside);
    if (__builtin_expect(converted != NULL, 0)) { /* calls of the usual kind leave the allocator alone */
        gyre_queue_recall(queue, converted, status == GYRE_OK, 1);
    }
    if (status != GYRE_OK)
        tell_unanswered(exchange, UINT64_MAX);
    else if (__builtin_expect(queue->line != NULL, 0))
        status = await_ticket(queue, &index, exchange, deadline_ns);
    if (status == GYRE_OK)
        status = take_reply(queue, index, exchange, deadline_ns);
    gyre_queue_leave(queue, inside);
    return status;
}

gyre_status gyre_call(gyre_queue *queue, const void *request, size_t request_size, void *reply,
                      size_t reply_size, gyre_completion *completion, uint64_t deadline_ns)
{
    struct exchange exchange = {.request = {.bytes = request, .size = request_size, .count = 1},
                                .reply = reply,
                                .reply_size = reply_size,
                                .completion = completion};
    return exchange_make(queue, &exchange, deadline_ns);
}

/* NOLINTNEXTLINE(readability-function-size): a call has that many arguments */
gyre_status gyre_call_with(gyre_queue *queue, const void *request, size_t request_size,
                           const gyre_header *header, void *reply, size_t reply_size,
                           gyre_completion *completion, gyre_message_info *info, uint64_t deadline_ns)
{
    struct exchange exchange = {
        .request = {.bytes = request, .size = request_size, .count = 1, .headers = header},
        .reply = reply,
        .reply_size = reply_size,
        .completion = completion,
        .info = info};
    gyre_status status = GYRE_OK;
    if (info && info->size < sizeof info->size)
        status = gyre_error_set(GYRE_INVALID, "gyre_call_with needs an info with its size set");
    if (status == GYRE_OK && queue && header)
        status = gyre_queue_check_header(queue, header);
    if (status == GYRE_OK)
        return exchange_make(queue, &exchange, deadline_ns);
    tell_unanswered(&exchange, UINT64_MAX);
    return status;
}
