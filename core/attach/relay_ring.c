/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a client's ring, copies its requests into the kernel's queue, and writes completions and promises into the
 * ring (relay.h). Runs under relay->lock. Must not believe a number that the client can write, and reads each such
 * number once: the request is what was copied, whatever the client writes later.
 */
#include "core/attach/relay_ring.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/bells.h"
#include "core/queue/names.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/put.h"
#include "core/queue/queue.h"
#include "core/queue/senders.h"
#include "core/queue/side.h"
#include "core/queue/state.h"
#include "core/queue/take.h"
#include "core/ring/ring.h"
#include "core/stages/log.h"
#include "core/stages/make.h"
#include "core/stages/spans.h"
#include "gyre/waiting.h"

enum {
    BATCH_MOST = 64,     /* the most requests that are copied together ... */
    BATCH_BYTES = 32768, /* ... as long as they fit a near cache */
    AHEAD = 8,           /* how many slots ahead are prefetched that another processor wrote ... */
    AHEAD_TO_WRITE = 16  /* ... and that a client has read */
};
#define LEFT_MAX UINT64_C(0x100000000) /* more requests than any ring holds */

/* ---- making ---- */

/* The requests that an earlier client of a name left: its requests [first, end). */
struct leavings {
    uint64_t first, end, target_end;
    struct gyre_relay_name *name; /* NULL: the client has none */
};

static bool is_left(const struct gyre_relay_place *place, uint64_t index, uint64_t client)
{
    return place->request == index + 1 && !place->ring && !place->given && place->origin.client == client;
}

static struct leavings find_leavings(const struct gyre_relay *relay, uint64_t client)
{
    struct leavings left = {UINT64_MAX, 0, 0, NULL};
    uint64_t end = gyre_queue_next_index(relay->target);
    for (uint64_t index = relay->oldest; client && index < end; index++) {
        const struct gyre_relay_place *place = gyre_relay_place(relay, index);
        if (!is_left(place, index, client))
            continue;
        left.first = place->origin.index < left.first ? place->origin.index : left.first;
        left.end = place->origin.index >= left.end ? place->origin.index + 1 : left.end;
        left.target_end = index + 1;
    }
    return left;
}

/*
 * Fetches a line that is about to be written and is still in a client's cache. Without that the stores to such lines, one after
 * the other, hold up all stores behind them. The builtin asks for reading only where the compiler does not know the processor.
 */
static inline void fetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Writes a completion into a client's slot, all but its sequence. The client may change the slot's length meanwhile. */
static inline gyre_slot *fill(const gyre_queue *queue, uint64_t index, uint32_t outcome, const void *payload,
                              uint32_t length)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index);
    const uint32_t most = gyre_ring_of(queue)->slots.reply_stride - GYRE_SLOT_HEADER_SIZE;
    const uint32_t fits = length < most ? length : most;
    slot->length = fits;
    slot->info = outcome;
    gyre_payload_copy(slot + 1, payload, fits);
    return slot;
}

static inline void publish(gyre_slot *slot, uint64_t index)
{
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
}

static void complete(gyre_queue *queue, uint64_t index, uint32_t outcome, const void *payload,
                     uint32_t length)
{
    publish(fill(queue, index, outcome, payload, length), index);
}

/*
 * Puts the earlier client's requests into the new ring as if the new client had sent them. A request between them
 * that is not in the kernel's queue any more was completed for the earlier client: here it is completed as dropped.
 */
static void adopt_leavings(struct gyre_relay *relay, struct gyre_relay_ring *ring, struct leavings left)
{
    uint64_t end = gyre_queue_next_index(relay->target);
    for (uint64_t index = left.first; index < left.end; index++) {
        complete(ring->queue, index, GYRE_OUTCOME_DROPPED, NULL, 0);
        gyre_request_slot(gyre_ring_of(ring->queue), index)->sequence = index + 1;
    }
    for (uint64_t index = relay->oldest; index < end; index++) {
        struct gyre_relay_place *place = gyre_relay_place(relay, index);
        if (!is_left(place, index, ring->client))
            continue;
        gyre_reply_slot(gyre_ring_of(ring->queue), place->origin.index)->sequence = 0;
        place->ring = ring;
        ring->under_way++;
        relay->absent--;
    }
    relay->given_end = relay->oldest;
}

static bool is_attached(const struct gyre_relay *relay, uint64_t client)
{
    for (const struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next)
        if (ring->client == client)
            return true;
    return false;
}

/* The names that may be forgotten: of how many clients they are, and the link to the one that left first, or NULL. */
struct absent_names {
    size_t count;
    struct gyre_relay_name **oldest;
};

static void look_at_name(struct absent_names *names, struct gyre_relay_name **link)
{
    names->count++;
    if ((*link)->left_ns && (!names->oldest || (*link)->left_ns < (*names->oldest)->left_ns))
        names->oldest = link;
}

/*
 * Forgets the name of the client that left first, when there are more names than are kept: of all clients, or of the
 * user of `client` when that user has its share (names.h). Names of attached clients stay, and so does the client's own.
 */
static void forget_names(struct gyre_relay *relay, uint64_t client)
{
    struct absent_names all = {0, NULL}, of_user = {0, NULL};
    for (struct gyre_relay_name **link = &relay->names; *link; link = &(*link)->next) {
        if ((*link)->client == client)
            continue;
        look_at_name(&all, link);
        if (gyre_names_share_user((*link)->client, client))
            look_at_name(&of_user, link);
    }
    struct gyre_relay_name **oldest =
        of_user.count >= GYRE_NAMES_SHARE && of_user.oldest ? of_user.oldest : all.oldest;
    if (all.count < GYRE_NAMES_MAX || !oldest)
        return;
    struct gyre_relay_name *name = *oldest;
    *oldest = name->next;
    free(name);
}

static struct gyre_relay_name *find_name(struct gyre_relay *relay, uint64_t client)
{
    struct gyre_relay_name *name = relay->names;
    while (name && name->client != client)
        name = name->next;
    if (name || !(name = calloc(1, sizeof *name)))
        return name;
    name->client = client;
    name->left_ns =
        gyre_clock_ns(); /* until it has a ring: a client that does not get in is forgotten, too */
    name->next_index = gyre_names_next(&gyre_foreign_of(relay->target)->names, client);
    name->next = relay->names;
    relay->names = name;
    return name;
}

/*
 * Refuses a client whose answered requests are not in this server's journal: an answered, durable request is in the
 * journal of the server that answered.
 */
static gyre_status miss_history(const struct gyre_relay *relay, uint64_t answered, uint64_t known)
{
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the client was answered %llu requests, and the journal of kernel '%s' knows %llu of them: it is an "
        "older one, another one (gyre.journal_dir), or heard of %d other clients since; restore it and "
        "start the server again, or start the client anew, without this history",
        (unsigned long long)answered, relay->kernel, (unsigned long long)known, GYRE_NAMES_MAX);
}

/*
 * Plans the ring of a client with a name: it goes on with the numbers of the earlier client and with the requests it
 * left.
 */
static gyre_status plan_return(struct gyre_relay *relay, uint64_t client, uint64_t answered,
                               struct leavings *left, struct gyre_queue_options *options)
{
    if (is_attached(relay, client))
        return gyre_error_set(
            GYRE_INVALID,
            "a client of this name is attached to kernel '%s' already: choose another name, or end that one",
            relay->kernel);
    forget_names(relay, client);
    struct gyre_relay_name *name = find_name(relay, client);
    if (!name)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a client");
    left->name = name;
    left->end = left->end > name->next_index ? left->end : name->next_index;
    left->first = left->target_end ? left->first : left->end;
    if (left->end - left->first > LEFT_MAX)
        return gyre_error_set(
            GYRE_INVALID,
            "the journal of kernel '%s' says that a client of this name left %llu requests, which "
            "none can: it is damaged",
            relay->kernel, (unsigned long long)(left->end - left->first));
    if (left->end < answered && gyre_view_of(relay->target)->durable)
        return miss_history(relay, answered, left->end);
    if (left->end == 0)
        return GYRE_OK;
    options->first_sequence = left->first;
    options->left = left->end - left->first;
    while (options->capacity < options->left) /* the kernel's queue held them, so it is no more than that */
        options->capacity *= 2;
    return GYRE_OK;
}

void gyre_relay_ring_note_leave(struct gyre_relay *relay, const struct gyre_relay_ring *ring)
{
    struct gyre_relay_name *name = ring->client & GYRE_ORIGIN_NAMED ? find_name(relay, ring->client) : NULL;
    if (!name)
        return;
    name->next_index = ring->taken;
    name->left_ns = gyre_clock_ns();
}

gyre_status gyre_relay_ring_create(struct gyre_relay *relay, struct gyre_queue_options *options,
                                   uint64_t client, uint64_t answered, struct gyre_relay_ring **out)
{
    struct leavings left = find_leavings(relay, client);
    gyre_status status = client ? plan_return(relay, client, answered, &left, options) : GYRE_OK;
    if (status != GYRE_OK)
        return status;
    struct gyre_relay_ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a client");
    status = gyre_queue_create(options, &ring->queue);
    if (status != GYRE_OK) {
        free(ring);
        return status;
    }
    ring->relay = relay;
    ring->client = client ? client : ++relay->serial;
    ring->taken = options->first_sequence + options->left;
    ring->target_end = left.target_end;
    ring->floor = options->first_sequence;
    ring->covered.told = ring->durable.told = options->first_sequence;
    if (left.target_end)
        adopt_leavings(relay, ring, left);
    if (left.name)
        left.name->left_ns = 0;
    ring->next = relay->rings;
    relay->rings = ring;
    *out = ring;
    return GYRE_OK;
}

/* ---- in ---- */

static void refuse(struct gyre_relay_ring *ring, uint64_t index)
{
    static const gyre_failure wrong = {GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_};
    complete(ring->queue, index, GYRE_OUTCOME_FAILED, &wrong, sizeof wrong);
    ring->rings = true;
}

static bool is_there(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&gyre_request_slot(gyre_ring_of(queue), index)->sequence, __ATOMIC_ACQUIRE) ==
           index + 1;
}

static uint32_t length_of(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&gyre_request_slot(gyre_ring_of(queue), index)->length, __ATOMIC_ACQUIRE);
}

static bool was_dropped(const gyre_queue *queue, uint64_t index)
{
    return index < __atomic_load_n(&gyre_ring_of(queue)->shared->host.drop_before, __ATOMIC_ACQUIRE);
}

static void copy_header(const gyre_queue *queue, uint64_t index, gyre_header *header)
{
    if (gyre_ring_of(queue)->slots.header_size)
        memcpy(header,
               gyre_ring_of(queue)->headers +
                   (index & gyre_ring_of(queue)->mask) * gyre_ring_of(queue)->slots.header_size,
               gyre_ring_of(queue)->slots.header_size);
}

/*
 * How many of `wanted` requests the kernel's queue will take: their slots are free, and the log needs none of the old
 * requests there. Under the producer's lock.
 */
static uint64_t room_for(gyre_queue *target, uint64_t wanted)
{
    const uint64_t next = gyre_producer_sent(target), used = next - gyre_received(target);
    wanted = gyre_senders_admit(target, NULL, wanted);
    if (gyre_queue_closed(target) || wanted == 0)
        return 0;
    const uint64_t room = gyre_ring_of(target)->capacity - used;
    return gyre_queue_log_room(target, next, room < wanted ? room : wanted);
}

/* Notes that the ring's next `count` requests went into the kernel's queue, from `index` on. */
static void note_passed(struct gyre_relay *relay, struct gyre_relay_ring *ring, uint64_t index,
                        uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        *gyre_relay_place(relay, index + i) = (struct gyre_relay_place){
            .request = index + i + 1, .origin = {ring->client, ring->taken + i}, .ring = ring};
    ring->target_end = index + count;
    ring->under_way += count;
    ring->taken += count;
}

/*
 * Whether sending into the kernel's queue only copies a request's bytes, once. Then the bytes may come straight from
 * the client's memory. Otherwise they are copied first, because the client may change them between two looks.
 */
static bool copies_only(const gyre_queue *target)
{
    return !gyre_ring_of(target)->request_least && !gyre_ring_of(target)->seals && !gyre_spans_has(target) &&
           !gyre_choices_of(target)->types;
}

/* Puts one request into the kernel's queue. False: the queue has no room. */
static bool put_one(struct gyre_relay *relay, struct gyre_relay_ring *ring, const void *payload)
{
    gyre_queue *target = relay->target;
    const struct gyre_outgoing one = {payload, relay->request.length, 1, &relay->request.header};
    uint64_t index = 0, granted = 0;
    gyre_producer_take(target);
    if (room_for(target, 1)) {
        index = gyre_producer_sent(target);
        gyre_origin_set(target, index, (struct gyre_origin){ring->client, ring->taken});
        granted = gyre_queue_put(target, &one, GYRE_MARK_CALL);
        if (granted)
            gyre_senders_passed(target, NULL);
    }
    gyre_producer_give(target);
    if (granted)
        note_passed(relay, ring, index, 1);
    else
        relay->held = true;
    return granted != 0;
}

/* Copies the ring's next request, which is there, into the kernel's queue. False: the queue has no room. */
static bool pass_one(struct gyre_relay *relay, struct gyre_relay_ring *ring)
{
    const gyre_slot *slot = gyre_request_slot(gyre_ring_of(ring->queue), ring->taken);
    copy_header(ring->queue, ring->taken, &relay->request.header);
    if (copies_only(relay->target))
        return put_one(relay, ring, slot + 1);
    memcpy(relay->request.payload, slot + 1, relay->request.length);
    return put_one(relay, ring, relay->request.payload);
}

static uint64_t first_under_way(const struct gyre_relay *relay, const struct gyre_relay_ring *ring)
{
    const uint64_t end = gyre_queue_next_index(relay->target);
    uint64_t first = ring->taken;
    for (uint64_t index = relay->oldest; ring->under_way && index < end; index++) {
        const struct gyre_relay_place *place = gyre_relay_place(relay, index);
        if (place->request == index + 1 && place->ring == ring && !place->given &&
            place->origin.index < first)
            first = place->origin.index;
    }
    return first;
}

/*
 * Whether the client has no more requests under way than its ring holds. A client that lies could let its numbers run
 * ahead of the oldest request under way without end; the next client of its name would need a ring for all numbers
 * between.
 */
static bool has_room_for(const struct gyre_relay *relay, struct gyre_relay_ring *ring, uint64_t its)
{
    if (its - ring->floor >= gyre_ring_of(ring->queue)->capacity)
        ring->floor = first_under_way(relay, ring);
    return its - ring->floor < gyre_ring_of(ring->queue)->capacity;
}

/* Passes the client's next request on, refuses or drops it. False: there is no request, or no room. */
static bool take_one(struct gyre_relay *relay, struct gyre_relay_ring *ring, uint64_t *passed)
{
    const uint64_t its = ring->taken;
    if (!is_there(ring->queue, its) || !has_room_for(relay, ring, its))
        return false;
    if (was_dropped(ring->queue, its)) {
        complete(ring->queue, its, GYRE_OUTCOME_DROPPED, NULL, 0);
        ring->rings = true;
        ring->taken++;
        return true;
    }
    relay->request.length = length_of(ring->queue, its);
    if (relay->request.length >
        gyre_ring_of(ring->queue)->request_size) { /* or it was taken back by its sender */
        refuse(ring, its);
        ring->taken++;
        return true;
    }
    *passed += pass_one(relay, ring);
    return ring->taken != its;
}

/* ---- in, many at once ---- */

gyre_status gyre_relay_make_room(struct gyre_relay *relay)
{
    const gyre_queue *target = relay->target;
    const uint64_t size = gyre_ring_of(target)->request_size;
    uint64_t most = size && gyre_ways_of(target)->fixed_size ? BATCH_BYTES / size : 0;
    most = most < BATCH_MOST ? most : BATCH_MOST;
    relay->batch_most = most > 1 ? most : 0;
    relay->request.payload = malloc((size_t)size + 1);
    relay->batch = malloc((size_t)(relay->batch_most * size) + 1);
    if (gyre_ring_of(target)->headers)
        relay->batch_headers = calloc(BATCH_MOST, sizeof *relay->batch_headers);
    return relay->request.payload && relay->batch && (relay->batch_headers || !gyre_ring_of(target)->headers)
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no memory to relay the requests of other programs");
}

void gyre_relay_free_room(struct gyre_relay *relay)
{
    free(relay->request.payload);
    free(relay->batch);
    free(relay->batch_headers);
}

/*
 * How many of the ring's next requests are there and have the queue's fixed size. Copies their headers. From here on their size is
 * the queue's, and nobody looks at the length in their slots again.
 */
static uint64_t count_next(struct gyre_relay *relay, const struct gyre_relay_ring *ring)
{
    const struct gyre_slots slots = gyre_slots_of(gyre_ring_of(ring->queue));
    const size_t size = gyre_ways_of(relay->target)->fixed_size;
    const uint64_t first = ring->taken;
    const uint64_t dropped =
        __atomic_load_n(&gyre_ring_of(ring->queue)->shared->host.drop_before, __ATOMIC_ACQUIRE);
    uint64_t count = 0;
    for (; count < relay->batch_most && first + count >= dropped; count++) {
        const gyre_slot *slot = gyre_slot_at(slots, first + count);
        if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != first + count + 1 ||
            __atomic_load_n(&slot->length, __ATOMIC_RELAXED) != size)
            break;
        __builtin_prefetch(gyre_slot_at(slots, first + count + AHEAD));
        if (relay->batch_headers)
            copy_header(ring->queue, first + count, &relay->batch_headers[count]);
    }
    return count;
}

/* Copies the payloads of the ring's next requests, for a queue that looks at them before they are in its slots. */
static void copy_payloads(const struct gyre_relay *relay, const struct gyre_relay_ring *ring, uint64_t count)
{
    const size_t size = gyre_ways_of(relay->target)->fixed_size;
    for (uint64_t i = 0; i < count; i++)
        memcpy(relay->batch + i * size, gyre_request_slot(gyre_ring_of(ring->queue), ring->taken + i) + 1,
               size);
}

/* Puts the ring's next requests, which are there, into the kernel's queue. Returns how many. Under the producer's lock. */
static uint64_t put_next(struct gyre_relay *relay, const struct gyre_relay_ring *ring, uint64_t count)
{
    gyre_queue *target = relay->target;
    const struct gyre_outgoing all = {relay->batch, gyre_ways_of(target)->fixed_size, count,
                                      relay->batch_headers};
    gyre_origins_set(target, gyre_producer_sent(target), count,
                     (struct gyre_origin){ring->client, ring->taken});
    if (copies_only(target))
        return gyre_queue_put_slots(target, gyre_slots_of(gyre_ring_of(ring->queue)), ring->taken, &all,
                                    GYRE_MARK_CALL);
    copy_payloads(relay, ring, count);
    return gyre_queue_put(target, &all, GYRE_MARK_CALL);
}

/* Passes the ring's next `count` requests on, as many as there is room for. Returns how many. */
static uint64_t pass_batch(struct gyre_relay *relay, struct gyre_relay_ring *ring, uint64_t count)
{
    gyre_queue *target = relay->target;
    gyre_producer_take(target);
    const uint64_t index = gyre_producer_sent(target), room = room_for(target, count),
                   granted = room ? put_next(relay, ring, room) : 0;
    if (granted)
        gyre_senders_passed(target, NULL);
    gyre_producer_give(target);
    note_passed(relay, ring, index, granted);
    relay->held = relay->held || granted < count;
    return granted;
}

bool gyre_relay_has_next(const struct gyre_relay_ring *ring)
{
    return !ring->leaves && is_there(ring->queue, ring->taken);
}

uint64_t gyre_relay_take(struct gyre_relay *relay, struct gyre_relay_ring *ring, uint64_t most)
{
    const uint64_t first = ring->taken;
    uint64_t passed = 0;
    for (bool more = true; more && !ring->leaves && ring->taken - first < most;) {
        const uint64_t next = relay->batch_most && most > 1 ? count_next(relay, ring) : 0;
        const uint64_t put = next > 1 ? pass_batch(relay, ring, next) : 0;
        passed += put;
        more = next > 1 ? put == next : take_one(relay, ring, &passed);
    }
    if (passed)
        gyre_queue_ring_doorbell(relay->target, passed);
    return ring->taken - first;
}

/* ---- out ---- */

/* Whether the completion of request `index` is there and has to go into a ring. */
static bool is_there_for_ring(const struct gyre_relay *relay, uint64_t index)
{
    __builtin_prefetch(
        gyre_reply_slot(gyre_ring_of(relay->target), index + AHEAD)); /* another processor wrote it */
    return gyre_relay_owes(relay, index) && gyre_reply_ready(gyre_ring_of(relay->target), index);
}

/* How many completions from `index` on, which is there, are there for the same ring, one after the other. */
static uint64_t count_owed(const struct gyre_relay *relay, uint64_t index, uint64_t most)
{
    const struct gyre_relay_place *first = gyre_relay_place(relay, index);
    uint64_t count = 1;
    for (; count < most && is_there_for_ring(relay, index + count); count++) {
        const struct gyre_relay_place *place = gyre_relay_place(relay, index + count);
        if (place->ring != first->ring || place->origin.index != first->origin.index + count)
            break;
    }
    return count;
}

/* Writes the completion of request `index`, its client's request `its`, into the ring, all but its sequence. */
static void fill_given(const struct gyre_relay *relay, const struct gyre_relay_ring *ring, uint64_t index,
                       uint64_t its)
{
    const gyre_slot *slot = gyre_reply_slot(gyre_ring_of(relay->target), index);
    gyre_queue_reply_settle(relay->target, index);
    fetch_to_write(gyre_reply_slot(gyre_ring_of(ring->queue), its + AHEAD_TO_WRITE));
    fill(ring->queue, its, gyre_slot_info(slot), slot + 1, gyre_slot_length(slot));
    gyre_relay_place(relay, index)->given = true;
}

uint64_t gyre_relay_give(const struct gyre_relay *relay, uint64_t index, uint64_t end)
{
    if (!is_there_for_ring(relay, index))
        return 0;
    const struct gyre_relay_place *first = gyre_relay_place(relay, index);
    struct gyre_relay_ring *ring = first->ring;
    const uint64_t its = first->origin.index,
                   count = count_owed(relay, index, end - index < BATCH_MOST ? end - index : BATCH_MOST);
    for (uint64_t i = 0; i < count; i++)
        fill_given(relay, ring, index + i, its + i);
    for (uint64_t i = count; i-- > 0;)
        publish(gyre_reply_slot(gyre_ring_of(ring->queue), its + i), its + i);
    ring->rings = true;
    ring->under_way -= count;
    return count;
}

/*
 * Tells the client a promise (in `word`) once the kernel's queue keeps it (`reached`). One promise is open at a time;
 * the next one covers all requests that came meanwhile. Never reads `word`, which the client could write.
 */
static bool keep(struct gyre_relay_promise *promise, const struct gyre_relay_ring *ring, uint64_t *word,
                 uint64_t reached)
{
    const uint64_t before = promise->told;
    while (promise->open || ring->taken != promise->told) {
        if (!promise->open) {
            promise->open = true;
            promise->client_end = ring->taken;
            promise->target_end = ring->target_end;
        }
        if (reached < promise->target_end)
            break;
        promise->told = promise->client_end;
        promise->open = false;
    }
    if (promise->told == before)
        return false;
    __atomic_store_n(word, promise->told, __ATOMIC_RELEASE); /* pairs with await.c */
    return true;
}

/* Tells the ring's client which of its requests are durable, or covered by a checkpoint. Returns whether any are new. */
static bool promise(const struct gyre_relay *relay, struct gyre_relay_ring *ring)
{
    const struct gyre_queue_log *log = gyre_log_of(relay->target);
    struct gyre_promises *promises = gyre_promises_of(ring->queue);
    bool told = false;
    if (gyre_foreign_of(ring->queue)->tells_covered)
        told = keep(&ring->covered, ring, &promises->covered,
                    __atomic_load_n(&log->base.first, __ATOMIC_ACQUIRE));
    if (gyre_foreign_of(ring->queue)->tells_durable &&
        keep(&ring->durable, ring, &promises->durable, __atomic_load_n(&log->durable, __ATOMIC_ACQUIRE)))
        told = true;
    ring->rings = ring->rings || told;
    return told;
}

/* Wakes the ring's client if something new is in the ring. */
static void ring_bell(struct gyre_relay_ring *ring)
{
    if (ring->rings)
        gyre_queue_wake_client(ring->queue);
    ring->rings = false;
}

bool gyre_relay_tell(struct gyre_relay *relay)
{
    bool told = false;
    for (struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next) {
        told = promise(relay, ring) || told;
        ring_bell(ring);
    }
    if (told)
        pthread_cond_broadcast(&relay->changed);
    return told;
}
