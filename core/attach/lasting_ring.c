/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries the messages of a queue that outlasts its servers (lasting.h): requests from the ring to the present
 * server, completions back. Only the queue's thread calls it. For the ring's senders and receivers the thread is a
 * device: it reads a request once the sequence in its slot says that it is there, and writes a completion before the
 * sequence.
 */
#include "core/attach/lasting_ring.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/mark.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/queue/wait_any.h"
#include "core/ring/outcome.h"
#include "core/ring/ring.h"

enum {
    BATCH_MOST = 64,     /* messages that are carried together ... */
    BATCH_BYTES = 32768, /* ... as long as they fit a near cache */
    TAKES_MAX = 256      /* requests in a turn */
};

/* ---- room ---- */

static uint64_t most_of(uint64_t size)
{
    const uint64_t most = size ? BATCH_BYTES / size : BATCH_MOST;
    return most < 1 ? 1 : most < BATCH_MOST ? most : BATCH_MOST;
}

gyre_status gyre_lasting_make_room(struct gyre_lasting *lasting)
{
    const gyre_queue *ring = lasting->ring;
    lasting->reply_most = most_of(gyre_queue_reply_room(ring));
    lasting->batch_most = gyre_ways_of(ring)->fixed_size && !gyre_ways_of(ring)->detour
                              ? most_of(gyre_ways_of(ring)->fixed_size)
                              : 1;
    lasting->places = calloc((size_t)gyre_ring_of(ring)->capacity, sizeof *lasting->places);
    lasting->replies = malloc((size_t)(lasting->reply_most * gyre_queue_reply_room(ring)) + 1);
    lasting->batch = malloc((size_t)(lasting->batch_most * gyre_ring_of(ring)->request_size) + 1);
    lasting->batch_headers = calloc(BATCH_MOST, sizeof *lasting->batch_headers);
    return lasting->places && lasting->replies && lasting->batch && lasting->batch_headers
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no memory for a queue that outlasts its servers");
}

void gyre_lasting_free_room(struct gyre_lasting *lasting)
{
    free(lasting->places);
    free(lasting->replies);
    free(lasting->batch);
    free(lasting->batch_headers);
}

/* ---- completions ---- */

void gyre_lasting_tell(struct gyre_lasting *lasting, uint64_t index)
{
    struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(lasting->ring), index);
    if (place->held && slot->info == GYRE_OUTCOME_REPLY && place->number < lasting->durable &&
        place->number >= lasting->told_end)
        lasting->told_end = place->number + 1;
    *place = (struct gyre_lasting_place){.request = index + 1, .stage = GYRE_LASTING_DONE};
    lasting->rings = true;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
}

void gyre_lasting_complete(struct gyre_lasting *lasting, uint64_t index, uint32_t outcome)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(lasting->ring), index);
    slot->length = 0;
    slot->info = outcome;
    gyre_lasting_tell(lasting, index);
}

void gyre_lasting_fail(struct gyre_lasting *lasting, uint64_t index, int32_t code, const char *text)
{
    gyre_slot_fail(gyre_reply_slot(gyre_ring_of(lasting->ring), index), code, text);
    gyre_lasting_tell(lasting, index);
}

/*
 * Writes a failure. A request that expired in the ring, too, gets the failure that the ring's device would write: the
 * ring took the request back, and knows it.
 */
static void write_failure(const gyre_queue *ring, uint64_t index, const gyre_completion *completion)
{
    const uint32_t length =
        __atomic_load_n(&gyre_request_slot(gyre_ring_of(ring), index)->length, __ATOMIC_ACQUIRE);
    const bool expired =
        completion->failure_code == GYRE_FAILURE_EXPIRED && length > gyre_ring_of(ring)->request_size;
    gyre_slot_fail(gyre_reply_slot(gyre_ring_of(ring), index),
                   expired ? GYRE_FAILURE_LENGTH : completion->failure_code, completion->failure_text);
}

/* Writes a reply in the ring's form: a packet stands behind its length. */
static void write_reply(const gyre_queue *ring, uint64_t index, const gyre_completion *completion,
                        const void *reply)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(ring), index);
    const uint32_t front =
        gyre_queue_has_packets(ring) && completion->outcome == GYRE_REPLIED ? GYRE_PACKET_FRONT : 0;
    const uint32_t most = gyre_ring_of(ring)->slots.reply_stride - (uint32_t)GYRE_SLOT_HEADER_SIZE - front;
    const uint32_t length = completion->length < most ? completion->length : most;
    const uint32_t used = length + front;
    if (completion->outcome == GYRE_HANDLER_FAILED) {
        write_failure(ring, index, completion);
        return;
    }
    if (front)
        memcpy(slot + 1, &used, sizeof used);
    if (length)
        memcpy((unsigned char *)(slot + 1) + front, reply, length);
    slot->length = used;
    slot->info = (uint32_t)completion->outcome;
}

/* Finds the request with this number at the server. False: no request has it, or the request was answered. */
static bool find_request(const struct gyre_lasting *lasting, uint64_t number, uint64_t *index)
{
    const uint64_t count = lasting->next - lasting->oldest;
    uint64_t at = lasting->answered < lasting->oldest ? lasting->oldest : lasting->answered;
    for (uint64_t i = 0; i < count; i++, at++) {
        if (at >= lasting->next)
            at = lasting->oldest;
        const struct gyre_lasting_place *place = gyre_lasting_place(lasting, at);
        *index = at;
        if (place->request == at + 1 && place->stage == GYRE_LASTING_SENT && place->number == number)
            return true;
    }
    return false;
}

/*
 * Notes that the server did not handle a request. While the server ends, the next server may handle it. Else the
 * request is sent to this server again: it is a query that an earlier server got, and no server repeats queries by
 * itself.
 */
static void leave_unhandled(struct gyre_lasting *lasting, uint64_t index, struct gyre_lasting_place *place)
{
    place->unhandled = true;
    if (gyre_queue_closed(lasting->back->queue))
        return;
    place->stage = GYRE_LASTING_AGAIN;
    lasting->again = index < lasting->again ? index : lasting->again;
}

/*
 * Takes a completion from the server. A completion held from an earlier connection stays where the server says
 * DROPPED, which means that it has given the completion before.
 */
static void take_completion(struct gyre_lasting *lasting, const gyre_completion *completion,
                            const void *reply)
{
    uint64_t index = 0;
    if (!find_request(lasting, completion->index, &index))
        return; /* the journal offers it once more */
    struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    lasting->answered = index + 1;
    if (completion->outcome == GYRE_WAS_UNHANDLED && !place->earlier) {
        leave_unhandled(lasting, index, place);
        return;
    }
    if (!(place->held && completion->outcome == GYRE_WAS_DROPPED))
        write_reply(lasting->ring, index, completion, reply);
    place->held = true;
    place->stage = GYRE_LASTING_HELD;
    if (!gyre_foreign_of(lasting->back->queue)->tells_durable || place->number < lasting->durable)
        gyre_lasting_tell(lasting, index);
}

bool gyre_lasting_give(struct gyre_lasting *lasting, bool *over)
{
    gyre_queue *back = lasting->back->queue;
    gyre_completion completions[BATCH_MOST];
    const size_t size = gyre_queue_reply_room(lasting->ring);
    bool worked = false;
    *over = false;
    while (gyre_ways_of(back)->any_order || gyre_queue_has_completion(back) || gyre_queue_closed(back)) {
        size_t count = 0;
        gyre_status status = gyre_receive_batch(back, lasting->replies, size, (size_t)lasting->reply_most,
                                                completions, &count, GYRE_NO_WAIT);
        for (size_t i = 0; i < count; i++)
            take_completion(lasting, &completions[i], lasting->replies + i * size);
        worked = worked || count != 0;
        if (status == GYRE_OK && count)
            continue;
        /* any other failure is about one reply, and no other server could give a better one */
        *over = status == GYRE_CLOSED || status == GYRE_LOST;
        break;
    }
    return worked;
}

/* ---- requests ---- */

static bool is_there(const gyre_queue *ring, uint64_t index)
{
    return __atomic_load_n(&gyre_request_slot(gyre_ring_of(ring), index)->sequence, __ATOMIC_ACQUIRE) ==
           index + 1;
}

static bool is_done(const struct gyre_lasting *lasting, uint64_t index)
{
    const struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    return place->request == index + 1 && place->stage == GYRE_LASTING_DONE;
}

/*
 * Completes a request that no server has to see: the request was dropped or given up before any server saw it, or its
 * sender took it back. Returns whether it completed the request.
 */
static bool settle_alone(struct gyre_lasting *lasting, uint64_t index)
{
    const gyre_queue *ring = lasting->ring;
    const uint32_t length =
        __atomic_load_n(&gyre_request_slot(gyre_ring_of(ring), index)->length, __ATOMIC_ACQUIRE);
    const bool was_seen = index < lasting->next;
    if (!was_seen &&
        (index < __atomic_load_n(&gyre_ring_of(ring)->shared->host.drop_before, __ATOMIC_ACQUIRE) ||
         gyre_mark_get(ring, index) == GYRE_MARK_ABANDONED))
        gyre_lasting_complete(lasting, index, GYRE_OUTCOME_DROPPED);
    else if (length > gyre_ring_of(ring)->request_size)
        gyre_lasting_fail(lasting, index, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
    else
        return false;
    return true;
}

/*
 * Copies a request's header, except the members that the ring filled in by itself: the server's queue fills these in.
 */
static void take_header(const gyre_queue *ring, uint64_t index, gyre_header *header)
{
    memset(header, 0, sizeof *header);
    if (!gyre_ring_of(ring)->slots.header_size)
        return;
    memcpy(header,
           gyre_ring_of(ring)->headers +
               (index & gyre_ring_of(ring)->mask) * gyre_ring_of(ring)->slots.header_size,
           gyre_ring_of(ring)->slots.header_size);
    bool own = header->type == gyre_choices_of(ring)->request_type;
    for (uint32_t i = 0; !own && gyre_choices_of(ring)->types && i < gyre_choices_of(ring)->count; i++)
        own = header->type == gyre_choices_of(ring)->types[i];
    header->type = own ? 0 : header->type;
    header->sent_ns = 0;
}

static void note_sent(struct gyre_lasting *lasting, uint64_t index, uint64_t number)
{
    struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    *place = (struct gyre_lasting_place){.request = index + 1, .number = number, .stage = GYRE_LASTING_SENT};
}

/* Completes a request that the ring took and the server's queue refuses. */
static void refuse(struct gyre_lasting *lasting, uint64_t index, gyre_status status)
{
    if (status == GYRE_TIMEOUT)
        gyre_lasting_fail(lasting, index, GYRE_FAILURE_EXPIRED, "expired: not handled by its deadline");
    else if (status == GYRE_DROPPED)
        gyre_lasting_complete(lasting, index, GYRE_OUTCOME_DROPPED);
    else
        gyre_lasting_fail(lasting, index, GYRE_FAILURE_LENGTH, "the server takes no such message");
}

/* Sends one request, or completes it. False: the server has no room for it, or is gone. */
static bool pass_one(struct gyre_lasting *lasting, uint64_t index)
{
    const gyre_queue *ring = lasting->ring;
    const gyre_slot *slot = gyre_request_slot(gyre_ring_of(ring), index);
    const uint32_t front = gyre_queue_has_packets(ring) ? GYRE_PACKET_FRONT : 0;
    const uint32_t length = __atomic_load_n(&slot->length, __ATOMIC_ACQUIRE);
    const unsigned char *payload = (const unsigned char *)(slot + 1) + front;
    gyre_header header;
    uint64_t number = 0;
    if (length > gyre_ring_of(ring)->request_size || length < front)
        return settle_alone(lasting, index); /* it was taken back just now */
    take_header(ring, index, &header);
    gyre_status status =
        gyre_send_with(lasting->back->queue, payload, length - front,
                       gyre_ring_of(ring)->slots.header_size ? &header : NULL, &number, GYRE_NO_WAIT);
    if (status == GYRE_OK) {
        note_sent(lasting, index, number);
        return true;
    }
    lasting->held_up = status == GYRE_AGAIN || status == GYRE_EXHAUSTED;
    if (lasting->held_up || status == GYRE_CLOSED || status == GYRE_LOST)
        return false;
    refuse(lasting, index, status);
    return true;
}

/* Copies new requests that can be sent together (all of one size, none of them dropped). Returns how many. */
static uint64_t gather(struct gyre_lasting *lasting)
{
    const gyre_queue *ring = lasting->ring;
    const size_t size = gyre_ways_of(ring)->fixed_size;
    const uint64_t drop_before =
        __atomic_load_n(&gyre_ring_of(ring)->shared->host.drop_before, __ATOMIC_ACQUIRE);
    uint64_t count = 0;
    for (; count < lasting->batch_most; count++) {
        const uint64_t index = lasting->next + count;
        if (!is_there(ring, index) || index < drop_before || is_done(lasting, index) ||
            gyre_mark_get(ring, index) == GYRE_MARK_ABANDONED ||
            __atomic_load_n(&gyre_request_slot(gyre_ring_of(ring), index)->length, __ATOMIC_ACQUIRE) != size)
            break;
        memcpy(lasting->batch + count * size, gyre_request_slot(gyre_ring_of(ring), index) + 1, size);
        take_header(ring, index, &lasting->batch_headers[count]);
    }
    return count;
}

/*
 * Sends the gathered requests at once. Returns how many were sent. A request that is refused is sent alone by the
 * caller, who then learns why.
 */
static uint64_t pass_batch(struct gyre_lasting *lasting, uint64_t gathered)
{
    const gyre_queue *ring = lasting->ring;
    const uint64_t number = gyre_queue_next_index(lasting->back->queue);
    size_t sent = 0;
    gyre_send_batch_with(lasting->back->queue, lasting->batch, gyre_ways_of(ring)->fixed_size,
                         gyre_ring_of(ring)->slots.header_size ? lasting->batch_headers : NULL,
                         (size_t)gathered, &sent, GYRE_NO_WAIT);
    for (uint64_t i = 0; i < sent; i++)
        note_sent(lasting, lasting->next + i, number + i);
    lasting->next += sent;
    lasting->again = lasting->next;
    return sent;
}

/* Sends the next request again where it must be. False: the server has no room, or is gone. */
static bool take_again(struct gyre_lasting *lasting)
{
    const struct gyre_lasting_place *place = gyre_lasting_place(lasting, lasting->again);
    if (place->request == lasting->again + 1 && place->stage == GYRE_LASTING_AGAIN &&
        !pass_one(lasting, lasting->again))
        return false;
    lasting->again++;
    return true;
}

static bool take_one(struct gyre_lasting *lasting)
{
    return settle_alone(lasting, lasting->next) || pass_one(lasting, lasting->next);
}

/* Sends or completes the next new request. False: there is none, or the server has no room. */
static bool take_new(struct gyre_lasting *lasting)
{
    const uint64_t gathered = lasting->batch_most > 1 ? gather(lasting) : 0;
    if (gathered > 1 && pass_batch(lasting, gathered))
        return true;
    if (!is_done(lasting, lasting->next) && !(is_there(lasting->ring, lasting->next) && take_one(lasting)))
        return false;
    lasting->again = ++lasting->next;
    return true;
}

static void pass_done(struct gyre_lasting *lasting)
{
    while (lasting->oldest < lasting->next && is_done(lasting, lasting->oldest))
        lasting->oldest++;
}

bool gyre_lasting_take(struct gyre_lasting *lasting)
{
    uint64_t taken = 0;
    lasting->held_up = false;
    while (taken < TAKES_MAX && (lasting->again < lasting->next ? take_again(lasting) : take_new(lasting)))
        taken++;
    pass_done(lasting);
    return taken != 0;
}

bool gyre_lasting_tidy(struct gyre_lasting *lasting)
{
    bool worked = false;
    for (uint64_t index = lasting->next; is_there(lasting->ring, index); index++) {
        if (!is_done(lasting, index))
            worked = settle_alone(lasting, index) || worked;
        if (index == lasting->next && is_done(lasting, index))
            lasting->next++; /* now, because later its slot may hold another request */
    }
    return worked;
}

/* ---- what is told besides ---- */

/*
 * Passes a promise on to the ring (`word`), once the server promises (`reached`) what is open. One promise is open at
 * a time; the next one covers all requests that were sent meanwhile.
 */
static bool keep(struct gyre_lasting *lasting, struct gyre_lasting_promise *promise, uint64_t *word,
                 uint64_t reached)
{
    bool told = false;
    while (lasting->again == lasting->next && (promise->open || *word < lasting->next)) {
        if (!promise->open) {
            promise->index_end = lasting->next;
            promise->number_end = gyre_queue_next_index(lasting->back->queue);
            promise->open = true;
        }
        if (reached < promise->number_end)
            break;
        promise->open = false;
        __atomic_store_n(word, promise->index_end, __ATOMIC_RELEASE); /* pairs with await.c */
        told = true;
    }
    return told;
}

/* Shows receivers the held completions of requests below the number `durable`. */
static bool tell_durable(struct gyre_lasting *lasting, uint64_t durable)
{
    bool told = false;
    if (durable <= lasting->durable)
        return false;
    lasting->durable = durable;
    for (uint64_t index = lasting->oldest; index < lasting->next; index++) {
        const struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
        if (place->request != index + 1 || place->stage != GYRE_LASTING_HELD || place->number >= durable)
            continue;
        gyre_lasting_tell(lasting, index);
        told = true;
    }
    pass_done(lasting);
    return told;
}

bool gyre_lasting_promise(struct gyre_lasting *lasting)
{
    const gyre_queue *back = lasting->back->queue;
    struct gyre_promises *theirs = gyre_promises_of(back), *ours = gyre_promises_of(lasting->ring);
    bool told = false;
    if (gyre_foreign_of(back)->tells_durable) {
        const uint64_t durable = __atomic_load_n(&theirs->durable, __ATOMIC_ACQUIRE);
        told = tell_durable(lasting, durable);
        told = keep(lasting, &lasting->kept, &ours->durable, durable) || told;
    }
    if (gyre_foreign_of(back)->tells_covered)
        told = keep(lasting, &lasting->covered, &ours->covered,
                    __atomic_load_n(&theirs->covered, __ATOMIC_ACQUIRE)) ||
               told;
    lasting->rings = lasting->rings || told;
    return told;
}

void gyre_lasting_ring_bell(struct gyre_lasting *lasting)
{
    if (lasting->rings)
        gyre_queue_wake_client(lasting->ring);
    lasting->rings = false;
}

bool gyre_lasting_holds(const struct gyre_lasting *lasting)
{
    for (uint64_t index = lasting->oldest; index < lasting->next; index++) {
        const struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
        if (place->request == index + 1 && place->stage == GYRE_LASTING_HELD)
            return true;
    }
    return false;
}

bool gyre_lasting_awaits(const struct gyre_lasting *lasting)
{
    return lasting->oldest < lasting->next;
}
