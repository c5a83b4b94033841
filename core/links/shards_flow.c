/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives messages of shards: chooses the ring for a request, and the ring from which the next completion is taken.
 * No lock of its own: every ring is a queue with its own locks. A sender waits in one ring, a receiver for all rings.
 */
#include "core/links/shard_group.h"

#include "core/base/error.h"
#include "core/queue/check.h"
#include "core/queue/wait_any.h"

/* ---- which ring ---- */

static uint32_t next_turn(gyre_shards *shards)
{
    return __atomic_fetch_add(&shards->turn, 1, __ATOMIC_RELAXED) % shards->count;
}

/* The number of the calling thread in the process, from 0 on, in the order of first calls. */
static uint32_t thread_number(void)
{
    static uint32_t threads;            /* atomic */
    static _Thread_local uint32_t mine; /* the thread's number + 1; 0: none yet */
    if (!mine)
        mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return mine - 1;
}

static uint32_t ring_of_thread(gyre_shards *shards)
{
    const uint32_t number = thread_number();
    if (number >= GYRE_SHARD_THREADS)
        return number % shards->count;
    if (!shards->ring_of[number])
        shards->ring_of[number] = (uint8_t)(next_turn(shards) + 1);
    return shards->ring_of[number] - 1u;
}

/* The ring for a hash: scales the upper half of the hash to the number of rings, without a division. */
static uint32_t ring_of_hash(const gyre_shards *shards, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * shards->count >> 32);
}

static inline gyre_status pick_ring(gyre_shards *shards, const void *request, size_t size, uint32_t *ring)
{
    uint64_t hash = 0;
    switch (shards->rule) {
    case GYRE_SHARD_KEY: {
        gyre_status status = gyre_message_key_hash(&shards->key, request, size, &hash);
        *ring = ring_of_hash(shards, hash);
        return status;
    }
    case GYRE_SHARD_ROUND_ROBIN:
        *ring = next_turn(shards);
        return GYRE_OK;
    default:
        *ring = ring_of_thread(shards);
        return GYRE_OK;
    }
}

gyre_status gyre_shards_pick(gyre_shards *shards, const void *request, size_t size, uint32_t *ring)
{
    if (!shards || !ring || (!request && shards->rule == GYRE_SHARD_KEY))
        return gyre_error_set(GYRE_INVALID, "gyre_shards_pick needs shards, "
                                            "a place for the ring and, to choose by key, the request");
    return pick_ring(shards, request, size, ring);
}

/* ---- sending ---- */

/* True when `request` is NULL although requests of these shards have bytes. */
static bool lacks_request(const gyre_shards *shards, const void *request)
{
    return !request && !gyre_queue_takes_nothing(shards->queues[0]);
}

gyre_status gyre_shards_send(gyre_shards *shards, const void *request, size_t size, gyre_shard_ticket *ticket,
                             uint64_t deadline_ns)
{
    uint32_t ring = 0;
    if (!shards || lacks_request(shards, request))
        return gyre_error_set(GYRE_INVALID, "gyre_shards_send needs shards and a request");
    gyre_status status = pick_ring(shards, request, size, &ring);
    if (ticket)
        ticket->ring = ring;
    return status == GYRE_OK
               ? gyre_send(shards->queues[ring], request, size, ticket ? &ticket->index : NULL, deadline_ns)
               : status;
}

/* Counts the requests at the front of a batch that go to the same ring: all requests, unless a key chooses the ring. */
static gyre_status run_of(gyre_shards *shards, const unsigned char *requests, size_t size, size_t count,
                          uint32_t *ring, size_t *length)
{
    gyre_status status = pick_ring(shards, requests, size, ring);
    uint32_t next = *ring;
    *length = status != GYRE_OK ? 0 : shards->rule == GYRE_SHARD_KEY ? 1 : count;
    while (*length > 0 && *length < count && next == *ring) {
        /* a request without its key ends the run, and fails as the first of the next run */
        if (pick_ring(shards, requests + *length * size, size, &next) != GYRE_OK)
            break;
        *length += next == *ring;
    }
    return status;
}

gyre_status gyre_shards_send_batch(gyre_shards *shards, const void *requests, size_t size, size_t count,
                                   size_t *sent, uint64_t deadline_ns)
{
    const unsigned char *request = requests ? requests : (const unsigned char *)"";
    gyre_status status = GYRE_OK;
    if (!shards || !sent || (count && lacks_request(shards, requests)))
        return gyre_error_set(
            GYRE_INVALID, "gyre_shards_send_batch needs shards, requests and a place for the number sent");
    *sent = 0;
    size = requests ? size : 0;
    while (status == GYRE_OK && *sent < count) {
        uint32_t ring = 0;
        size_t length = 0, accepted = 0;
        status = run_of(shards, request + *sent * size, size, count - *sent, &ring, &length);
        if (status == GYRE_OK) /* no wait after a part of the batch was sent */
            status = gyre_send_batch(shards->queues[ring], request + *sent * size, size, length, &accepted,
                                     *sent ? GYRE_NO_WAIT : deadline_ns);
        *sent += accepted;
        if (status == GYRE_OK && accepted < length)
            return GYRE_OK;
    }
    return status == GYRE_AGAIN && *sent ? GYRE_OK : status;
}

gyre_status gyre_shards_call(gyre_shards *shards, const void *request, size_t request_size, void *reply,
                             size_t reply_size, gyre_completion *completion, uint64_t deadline_ns)
{
    uint32_t ring = 0;
    if (!shards || lacks_request(shards, request))
        return gyre_error_set(GYRE_INVALID,
                              "gyre_shards_call needs shards, a request and room for the reply");
    gyre_status status = pick_ring(shards, request, request_size, &ring);
    return status == GYRE_OK ? gyre_call(shards->queues[ring], request, request_size, reply, reply_size,
                                         completion, deadline_ns)
                             : status;
}

/* ---- receiving ---- */

/* Takes a completion, beginning with the ring whose turn it is. AGAIN: no ring had a completion for this thread. */
static gyre_status take_any(gyre_shards *shards, gyre_shard_batch *batch)
{
    const uint32_t first = __atomic_load_n(&shards->cursor, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < shards->count; i++) {
        const uint32_t ring = (first + i) % shards->count;
        if (!gyre_queue_has_completion(shards->queues[ring]))
            continue;
        gyre_status status =
            gyre_receive_batch(shards->queues[ring], batch->replies, batch->reply_size, batch->count,
                               batch->completions, &batch->received, GYRE_NO_WAIT);
        if (status == GYRE_AGAIN) /* another receiver was quicker */
            continue;
        batch->ring = ring;
        __atomic_store_n(&shards->cursor, (ring + 1) % shards->count, __ATOMIC_RELAXED);
        return status;
    }
    return GYRE_AGAIN;
}

/* Receives, and waits if necessary. The thread counts in `inside` meanwhile, so that the shards are not freed. */
static gyre_status receive_waiting(gyre_shards *shards, gyre_shard_batch *batch, uint64_t deadline_ns)
{
    const struct gyre_queue_group group = {shards->queues, shards->count, &shards->closing};
    gyre_status status;
    __atomic_fetch_add(&shards->inside, 1, __ATOMIC_SEQ_CST);
    do {
        status = gyre_queue_wait_any(&group, deadline_ns);
        if (status == GYRE_OK)
            status = take_any(shards, batch);
    } while (status == GYRE_AGAIN);
    __atomic_fetch_sub(&shards->inside, 1, __ATOMIC_RELEASE); /* pairs with send_away */
    return status;
}

static gyre_status receive_batch(gyre_shards *shards, gyre_shard_batch *batch, uint64_t deadline_ns)
{
    const struct gyre_queue_group group = {shards->queues, shards->count, &shards->closing};
    batch->received = 0;
    gyre_status status = take_any(shards, batch);
    if (status != GYRE_AGAIN)
        return status;
    const gyre_status end = deadline_ns == GYRE_NO_WAIT ? gyre_queue_group_look(&group) : GYRE_OK;
    if (deadline_ns != GYRE_NO_WAIT || end == GYRE_CLOSED || end == GYRE_LOST)
        return receive_waiting(shards, batch, deadline_ns);
    return gyre_error_set_text(GYRE_AGAIN, "no completion is there");
}

gyre_status gyre_shards_receive(gyre_shards *shards, void *reply, size_t size, uint32_t *ring,
                                gyre_completion *completion, uint64_t deadline_ns)
{
    gyre_shard_batch one = {.replies = reply, .reply_size = size, .count = 1, .completions = completion};
    if (!shards || (!reply && size))
        return gyre_error_set(GYRE_INVALID, "gyre_shards_receive needs shards and room for the reply");
    gyre_status status = receive_batch(shards, &one, deadline_ns);
    if (ring)
        *ring = one.ring;
    return status;
}

gyre_status gyre_shards_receive_batch(gyre_shards *shards, gyre_shard_batch *batch, uint64_t deadline_ns)
{
    if (!shards || !batch || batch->size < sizeof *batch || (!batch->replies && batch->reply_size))
        return gyre_error_set(GYRE_INVALID, "gyre_shards_receive_batch needs shards and "
                                            "a batch with its size and room for replies");
    if (batch->count == 0) {
        batch->received = 0;
        return GYRE_OK;
    }
    return receive_batch(shards, batch, deadline_ns);
}
