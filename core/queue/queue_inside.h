/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share of a queue: its slots, its sides and their locks, and what one file does
 * for the others. Outside, core/journal and the recovery in core/runtime look at slots as well.
 */
#ifndef GYRE_CORE_QUEUE_QUEUE_INSIDE_H
#define GYRE_CORE_QUEUE_QUEUE_INSIDE_H

#include <string.h>
#include <time.h>

#include "core/ring/copy.h"
#include "core/ring/express.h"
#include "core/queue/queue.h"
#include "core/queue/senders.h"
#include "gyre/message.h"
#include "gyre/waiting.h"

static inline gyre_slot *gyre_request_slot(const gyre_queue *queue, uint64_t index)
{
    return (gyre_slot *)(void *)(queue->requests + (index & queue->mask) * queue->request_stride);
}

static inline gyre_slot *gyre_reply_slot(const gyre_queue *queue, uint64_t index)
{
    return (gyre_slot *)(void *)(queue->replies + (index & queue->mask) * queue->reply_stride);
}

/** The completion of `index` is in its slot; what it says may be read. Pairs with the device's release of the
 * sequence. */
static inline bool gyre_reply_in_slot(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&gyre_reply_slot(queue, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/** The completion of `index` is there; what it says may be read, but of a call that was not received, which may be
 * in express lines yet (express.h). */
static inline bool gyre_reply_ready(const gyre_queue *queue, uint64_t index)
{
    return gyre_reply_in_slot(queue, index) ||
           (__builtin_expect(queue->express_replies != NULL, 0) && gyre_express_answers(queue, index));
}

/** Whether a message of a protocol is of a type whose handler changes nothing; it is read once. */
static inline bool gyre_queue_is_query(const gyre_queue *queue, const void *payload)
{
    uint32_t number;
    if (__builtin_expect(queue->queries == NULL, 1))
        return false;
    memcpy(&number, (const unsigned char *)payload + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
    return number - 1 < queue->choice_count && queue->queries[number - 1];
}

/** The number of one such type; 0: there is none. */
static inline uint32_t gyre_queue_any_query(const gyre_queue *queue)
{
    for (uint32_t i = 0; queue->queries && i < queue->choice_count; i++)
        if (queue->queries[i])
            return i + 1;
    return 0;
}

/** Under the consumer lock, before the cursor moves: completions [first, end) were read. */
static inline void gyre_replies_done(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (__builtin_expect(queue->bridge != NULL, 0) && first != end)
        gyre_bridge_give_back(queue, first, end);
}

static inline uint8_t gyre_mark_get(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&queue->marks[index & queue->mask], __ATOMIC_SEQ_CST);
}

static inline void gyre_mark_set(gyre_queue *queue, uint64_t index, enum gyre_mark mark)
{
    __atomic_store_n(&queue->marks[index & queue->mask], (uint8_t)mark, __ATOMIC_SEQ_CST);
}

/**
 * The same by who needs no barrier with it: the consumer lock's holder, and a sender, whose request's
 * sequence is released after it.
 */
static inline void gyre_mark_set_locked(gyre_queue *queue, uint64_t index, enum gyre_mark mark)
{
    __atomic_store_n(&queue->marks[index & queue->mask], (uint8_t)mark, __ATOMIC_RELEASE);
}

static inline uint64_t gyre_received(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->consumer.received, __ATOMIC_ACQUIRE);
}

static inline bool gyre_queue_closed(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->state.closed, __ATOMIC_ACQUIRE) != 0;
}

/** The device died, and no other one takes its place. */
static inline bool gyre_queue_lost(const gyre_queue *queue)
{
    if (__atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE))
        return true;
    return !queue->device_returns && __atomic_load_n(&queue->control->device.lost, __ATOMIC_ACQUIRE) != 0;
}

/** Says so: LOST. */
gyre_status gyre_queue_tell_lost(const gyre_queue *queue);

/** Of a queue that is closed: it is because the device, its worker or the program that served it died. */
static inline bool gyre_queue_gone(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&queue->control->device.lost, __ATOMIC_ACQUIRE) != 0;
}

/** How long a wait for a device that rings no bell sleeps between two looks. */
#define GYRE_NAP_NS UINT64_C(50000)
/** Looks before the first such sleep: they take the processor for about as long as going to sleep and waking up do, and
 * most answers come sooner. */
#define GYRE_LOOKS_BEFORE_NAPS 100

/** Sleeps for as long, or until the deadline. */
static inline void gyre_nap(uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns();
    const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    const struct timespec duration = {0, (long)(left < GYRE_NAP_NS ? left : GYRE_NAP_NS)};
    if (left)
        nanosleep(&duration, NULL);
}

/* A side without a lock. Seq_cst: of two that are inside at once, one sees the other. */
static inline void gyre_side_enter(gyre_queue *queue, uint8_t *busy)
{
#ifdef GYRE_CHECKED
    if (__atomic_exchange_n(busy, 1, __ATOMIC_SEQ_CST))
        gyre_queue_misuse(queue);
#else
    (void)queue;
    (void)busy;
#endif
}

static inline void gyre_side_leave(uint8_t *busy)
{
#ifdef GYRE_CHECKED
    __atomic_store_n(busy, 0, __ATOMIC_SEQ_CST);
#else
    (void)busy;
#endif
}

/**
 * A reservation, a line of senders, a peek, begins or ends. Under its side's lock; release pairs with who waits for the end and looks
 * without: what it came to (`sent`, a cursor) was stored before.
 */
static inline void gyre_barred_set(gyre_queue *queue, enum gyre_barred bit, bool set)
{
    const unsigned others = queue->producer.barred & ~(unsigned)bit;
    __atomic_store_n(&queue->producer.barred, (uint8_t)(set ? others | bit : others), __ATOMIC_RELEASE);
}

/** Also without the lock. */
static inline bool gyre_is_reserving(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->producer.barred, __ATOMIC_ACQUIRE) & GYRE_BARRED_RESERVING;
}

static inline void gyre_peeking_set(gyre_queue *queue, bool peeking)
{
    __atomic_store_n(&queue->consumer.peeking, peeking, __ATOMIC_RELEASE);
}

static inline void gyre_producer_take(gyre_queue *queue)
{
    if (queue->many_threads)
        gyre_lock_take(&queue->producer.lock);
    else
        gyre_side_enter(queue, &queue->producer.busy);
}

static inline void gyre_producer_give(gyre_queue *queue)
{
    if (queue->many_threads)
        gyre_lock_give(&queue->producer.lock);
    else
        gyre_side_leave(&queue->producer.busy);
}

static inline void gyre_consumer_take(gyre_queue *queue)
{
    if (queue->many_threads)
        gyre_lock_take(&queue->consumer.lock);
    else
        gyre_side_enter(queue, &queue->consumer.busy);
}

/** False: somebody else is inside. */
static inline bool gyre_consumer_try(gyre_queue *queue)
{
    if (queue->many_threads)
        return gyre_lock_try(&queue->consumer.lock);
    gyre_side_enter(queue, &queue->consumer.busy);
    return true;
}

/** Before a call waits: from now until gyre_queue_leave the queue cannot be freed under it. */
static inline void gyre_queue_stay(gyre_queue *queue, uint64_t deadline_ns, bool *inside)
{
    if (*inside || deadline_ns == GYRE_NO_WAIT)
        return;
    __atomic_fetch_add(&queue->state.inside, 1, __ATOMIC_ACQ_REL);
    *inside = true;
}

/** The last thing that a call does with the queue, which may be gone after it. */
static inline void gyre_queue_leave(gyre_queue *queue, bool inside)
{
    if (inside)
        __atomic_fetch_sub(&queue->state.inside, 1, __ATOMIC_RELEASE); /* pairs with gyre_queue_destroy */
}

/** Ends a consumer's section: steps over finished calls, unlocks, and tells those who wait for room. */
void gyre_consumer_give(gyre_queue *queue);

/** Requests of a caller, `size` bytes apart, and their headers (NULL: none). */
struct gyre_outgoing {
    const void *bytes;
    size_t size;
    uint64_t count;
    const gyre_header *headers;
};

/** The requests that were sent: `count` from index `first` on. */
struct gyre_sent {
    uint64_t first, count;
};

/** Requests of that size go into the ring as they are, and one at a time or many by the producer's lock alone. */
static inline bool gyre_queue_is_direct(const gyre_queue *queue, size_t size)
{
    return size == queue->direct_size && size != 0;
}

/** Its kernel's request is gyre_none: no bytes in the ring, though the type in C has one; it is sent as either. */
static inline bool gyre_queue_takes_nothing(const gyre_queue *queue)
{
    return queue->request_size == 0;
}

/**
 * Under the producer lock: sends requests as they go into the ring, with their headers, as far as there is room;
 * returns how many. Of those with tails only the bytes in use are copied. send.c
 */
uint64_t gyre_queue_put(gyre_queue *queue, const struct gyre_outgoing *requests, enum gyre_mark mark);

/* layout.c */

/**
 * Where what the options ask for lies in the region, and the region's shape, whose size is in whole lines:
 * gyre_bridge_plan appends to it.
 */
void gyre_queue_lay_out(const struct gyre_queue_options *options, gyre_queue_shape *shape,
                        gyre_queue_slots *slots);

/* convert.c */

/**
 * From now on every request with a tail goes through `settle`; those that are in the ring already are the
 * caller's to see to. Takes the producer's lock.
 */
void gyre_queue_settle_requests(gyre_queue *queue,
                                void (*settle)(const gyre_queue *queue, void *request, uint64_t length));
/** Whether there is such a function now. */
static inline bool gyre_queue_settles(const gyre_queue *queue)
{
    return queue->request_least && __atomic_load_n(&queue->settle, __ATOMIC_ACQUIRE) && !queue->packets;
}
/** Lets a request that is in its place go through that. */
void gyre_queue_settle(const gyre_queue *queue, void *request);

/** Whether requests of `size` bytes are not in the ring as callers give them. */
bool gyre_queue_converts(const gyre_queue *queue, size_t size);
/**
 * The requests of a caller as they go into the ring, request_size bytes apart; of a queue that moves spans
 * (spans.h), which may wait for that, perhaps fewer. Owner of *out: the caller, free(), and
 * gyre_queue_unconvert before it for those that are not sent. INVALID for what is no message of the caller's
 * type, EXHAUSTED.
 */
gyre_status gyre_queue_convert(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                               void **out);
/** Requests [first, end) of what was converted were not sent after all. */
void gyre_queue_unconvert(gyre_queue *queue, void *converted, uint64_t first, uint64_t end);
/** A reply of the kernel's type as the caller's,
 * where reply_growth says that they differ; *length of both. */
gyre_status gyre_queue_shrink_reply(const gyre_queue *queue, const void *message, uint32_t *length,
                                    void *reply, size_t size);

/** Of a queue of packets: the bytes of a reply, and their number. */
static inline const unsigned char *gyre_packet_bytes(const void *packet, uint32_t *length)
{
    *length -= *length < GYRE_PACKET_FRONT ? *length : GYRE_PACKET_FRONT;
    return (const unsigned char *)packet + GYRE_PACKET_FRONT;
}

/** INVALID unless each of `count` requests, `size` bytes apart, is what the queue takes. */
gyre_status gyre_queue_check_requests(const gyre_queue *queue, const void *requests, size_t size,
                                      size_t count);
/** The part of it about one request with a tail, which is the caller's `number`th. */
gyre_status gyre_queue_check_tail(const gyre_queue *queue, const void *request, size_t size, size_t number);

/**
 * The requests as they go into the ring, checked: where the caller's type is another one, or spans are moved,
 * `requests` then names *converted (gyre_queue_convert). Otherwise as gyre_queue_check_requests. send.c
 */
gyre_status gyre_queue_admit(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                             void **converted);

/** What a completion's slot holds, or points to; NULL: the device wrote nonsense. `bridge` is the queue's. */
static inline const void *gyre_reply_payload(const struct gyre_queue_bridge *bridge, const gyre_slot *slot,
                                             uint32_t length)
{
    if (__builtin_expect(bridge != NULL, 0) && bridge->replies && length > GYRE_SLOT_SMALL_PAYLOAD)
        return gyre_bridge_reply(bridge, slot);
    return slot + 1;
}

/**
 * How long a slot says that its message is, and what came of it. Atomic, so that a compiler reads it once and no
 * more: a server or a worker process may write there at any time.
 */
static inline uint32_t gyre_slot_length(const gyre_slot *slot)
{
    return __atomic_load_n(&slot->length, __ATOMIC_RELAXED);
}

static inline uint32_t gyre_slot_info(const gyre_slot *slot)
{
    return __atomic_load_n(&slot->info, __ATOMIC_RELAXED);
}

/**
 * What nearly every completion is: a reply that fits, to be copied and nothing else; *length: of it. False: it needs
 * a closer look (gyre_queue_read_reply). `bridge` is the queue's.
 */
static inline bool gyre_reply_copy(const gyre_queue *queue, const struct gyre_queue_bridge *bridge,
                                   const gyre_slot *slot, void *reply, size_t size, uint32_t *length)
{
    *length = gyre_slot_length(slot);
    if (gyre_slot_info(slot) != GYRE_OUTCOME_REPLY || *length > queue->quick_reply_size || *length > size)
        return false;
    const void *payload = gyre_reply_payload(bridge, slot, *length);
    if (!payload)
        return false;
    gyre_payload_copy(reply, payload, *length);
    return true;
}

/** The message of a request's slot, until its completion was received. */
static inline const void *gyre_request_payload(const gyre_queue *queue, const gyre_slot *slot)
{
    if (queue->bridge && queue->bridge->requests && slot->length > GYRE_SLOT_SMALL_PAYLOAD)
        return gyre_bridge_request(queue->bridge, slot);
    return slot + 1;
}

/** What a request with a tail, or one of another size, takes of the queue's ring of bytes. */
uint64_t gyre_queue_bytes_for(const gyre_queue *queue, const void *request, size_t size);

/**
 * The length of a request that is not to be handled, longer than any message: a device refuses it as it refuses
 * any other of a wrong length, without calling the handler, and this side knows why.
 */
#define GYRE_LENGTH_TAKEN_BACK 0xfffffffeu

/** One request that is taken back before it is sent: the device will refuse it. */
uint64_t gyre_queue_put_taken_back(gyre_queue *queue, const struct gyre_outgoing *request,
                                   enum gyre_mark mark);
/** CLOSED, and why sends are. */
gyre_status gyre_queue_tell_closed(const gyre_queue *queue);

/** Tells parked workers that `count` requests were published. */
void gyre_queue_ring_doorbell(gyre_queue *queue, uint64_t count);

/** Tells threads that sleep on the credit bell that something changed. */
void gyre_queue_ring_credit(gyre_queue *queue);

/** Fills a completion (NULL: nothing) and copies the reply; INVALID when it does not fit, nothing is written
 * then. */
gyre_status gyre_queue_read_reply(gyre_queue *queue, uint64_t index, void *reply, size_t size,
                                  gyre_completion *completion);

/** What a wait is for: 1 it is there, 0 not yet,
 * -1 it will never come (CLOSED). Called often; must be quick. */
typedef int (*gyre_wait_condition)(const gyre_queue *queue, uint64_t argument);

enum gyre_wait_bell { GYRE_BELL_DEVICE, GYRE_BELL_CREDIT };

/**
 * Waits with the queue's idle strategy until the condition holds; the caller stays (gyre_queue_stay). `bell`
 * is what rings when it may have changed. OK, TIMEOUT, CLOSED, LOST; the sentence is set for the latter
 * three.
 */
gyre_status gyre_queue_wait(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument,
                            enum gyre_wait_bell bell, uint64_t deadline_ns);

/** What is told who found nothing and does not wait: AGAIN, no completion being there, or how a wait for the
 * condition would end by itself, CLOSED or LOST. */
gyre_status gyre_queue_look(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument);

/** Conditions. The completion of index `argument` is there. */
int gyre_wait_reply(const gyre_queue *queue, uint64_t argument);
/** A receiver at cursor `argument` is not held up by
 * another's peek or by a call that did not take its reply. */
int gyre_wait_turn(const gyre_queue *queue, uint64_t argument);

/** In a queue whose receivers take what is there: some completion is. match.c */
int gyre_wait_whichever(const gyre_queue *queue, uint64_t argument);

/* room.c */

/** Without a lock: a send of one small request would find room now, if no other is quicker. */
bool gyre_queue_has_room(const gyre_queue *queue);

/**
 * Waits until a send that needs `bytes` of a ring of bytes may find room, or the policy made some. AGAIN,
 * TIMEOUT, DROPPED, CLOSED, LOST. The sender may be in line then: gyre_senders_passed, or gyre_senders_leave.
 */
gyre_status gyre_queue_make_room(gyre_queue *queue, struct gyre_sender *sender, uint64_t bytes,
                                 uint64_t deadline_ns);

/* note.c; the first two are called only where queue->annotated */

/** Requests [first, end) are about to be published. The producer lock is held. */
void gyre_queue_note_sent(gyre_queue *queue, uint64_t first, uint64_t end);
/** Completions [first, end) are being taken; their slots are not given back yet. */
void gyre_queue_note_taken(gyre_queue *queue, uint64_t first, uint64_t end);

/** Whether a device may say so of a message that it completed. */
static inline bool gyre_outcome_is_known(uint32_t outcome)
{
    return outcome - GYRE_OUTCOME_REPLY <= GYRE_OUTCOME_UNHANDLED - GYRE_OUTCOME_REPLY;
}
/** Makes a failure of a completion that nobody else writes to: all but its sequence. */
void gyre_slot_fail(gyre_slot *slot, int32_t code, const char *text);
/** Of completions [first, end) that are there, one of which the device told no outcome becomes a failure that says so. */
void gyre_queue_outcomes_look(const gyre_queue *queue, uint64_t first, uint64_t end);

/** The completion of `index`, if it is a failure, is shown, or taken: it says what it came of, and a request
 * that nobody handled is kept as a dead letter when it is taken. */
void gyre_queue_show_failures(gyre_queue *queue, uint64_t first, uint64_t end);
void gyre_queue_take_failures(gyre_queue *queue, uint64_t first, uint64_t end);
static inline void gyre_queue_take_failure(gyre_queue *queue, uint64_t index)
{
    gyre_queue_take_failures(queue, index, index + 1);
}
/** The completion of `index` is there, and its slot the caller's: makes of what the device wrote what a client is told. */
void gyre_queue_reply_settle(gyre_queue *queue, uint64_t index);

/* headers.c */

/** Under the producer lock: requests [first, end), `size` bytes apart, of a protocol's types: which ones. */
void gyre_queue_headers_name(const gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                             size_t size);
/** What the queue knows of a message that its sender left open. */
void gyre_queue_header_complete(const gyre_queue *queue, gyre_header *header, uint64_t index,
                                uint64_t now_ns);
/** Of a request under way; 0 where headers hold none. */
uint64_t gyre_queue_correlation(const gyre_queue *queue, uint64_t index);
/** Writes the headers of requests [first, end): what was given, and what the queue knows. */
void gyre_queue_headers_sent(gyre_queue *queue, uint64_t first, uint64_t end);
/** Before a reservation of [first, end): nothing is given yet. */
void gyre_queue_headers_clear(gyre_queue *queue, uint64_t first, uint64_t end);
/** Tells all that is known of a request whose completion is there. */
void gyre_queue_info(gyre_queue *queue, uint64_t index, gyre_message_info *info);
/** INVALID unless the queue's headers hold every field that is not 0; TIMEOUT when its deadline passed. */
gyre_status gyre_queue_check_header(const gyre_queue *queue, const gyre_header *header);

/* timing.c; called only where queue->timing is not NULL */
gyre_status gyre_queue_timing_create(gyre_queue *queue);
void gyre_queue_timing_destroy(gyre_queue *queue); /* accepts a queue without */
/** Requests [first, end) are about to be published. */
void gyre_queue_timing_sent(gyre_queue *queue, uint64_t first, uint64_t end);
/** Completions [first, end) are there and being taken; their slots are not given back yet. */
void gyre_queue_timing_received(gyre_queue *queue, uint64_t first, uint64_t end);
void gyre_queue_timing_stats(const gyre_queue *queue, gyre_queue_stats *stats);
/** The times of a received request; false when it was not timed. */
bool gyre_queue_timing_find(const gyre_queue *queue, uint64_t index, gyre_timing *timing);

/* descriptor.c */
void gyre_queue_watch_settle(gyre_queue *queue);
void gyre_queue_watch_destroy(gyre_queue *queue);

#endif
