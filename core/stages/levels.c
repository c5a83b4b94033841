/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves messages by their priority. Messages wait in front of the ring, in a list for each level. Only a window (the first
 * few) of them is in the ring, where their order is fixed. The first message of the highest level goes into the ring next.
 * A message rises by one level for every `age_ns` that it waited, so a message that waited long enough is served before all
 * later messages, whatever their level (tests/models/levels.pml).
 *
 * A sender, a receiver or the attendant (attendant.c) moves messages into the ring, whichever thread comes first.
 *
 * A message that still waits when its kernel ends is over: no handler will handle it. The ring may have no room for the
 * message's completion until the kernel has another device. Then the message goes to that device as a request that was
 * taken back (expiry.c), and the device refuses it.
 *
 * Each message has a ticket, its number in the order of sends. Lock: the producer lock. A thread whose message is in a slot
 * reads the slot's `tickets` and `over` without the lock, because they were stored before the sequence that published the
 * message.
 */
#include "core/stages/levels.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/base/memory_left.h"
#include "core/queue/bells.h"
#include "core/queue/end.h"
#include "core/queue/line.h"
#include "core/queue/put.h"
#include "core/queue/side.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/ring/ring_message.h"
#include "core/stages/expiry.h"
#include "core/stages/headers.h"
#include "core/stages/order.h"
#include "gyre/waiting.h"

#define NOBODY UINT32_MAX
enum { ALIGNMENT = 16 };

struct waiting {
    uint64_t ticket, queued_ns;
    gyre_header header;
    uint32_t length, next;
    enum gyre_mark mark;
    bool over; /* no handler will handle the message */
    _Alignas(ALIGNMENT) unsigned char request[];
};

struct level {
    uint32_t first, last;
};

struct gyre_queue_levels {
    unsigned char *places; /* places for `capacity` waiting messages */
    size_t stride;
    uint64_t *tickets; /* for each slot of the ring: the ticket of its message */
    uint8_t *over;     /* for each slot: 1 when its message was over before it came into the ring */
    struct level levels[GYRE_LEVELS_MAX];
    uint32_t count; /* levels in use */
    uint32_t spare; /* the first free place */
    uint64_t age_ns, window;
    /* atomic, written under the lock */
    uint64_t waiting;  /* waiting messages */
    uint64_t finished; /* waiting messages that are over */
    uint64_t next_ticket;
    uint64_t answered; /* requests of the ring below this index are answered */
    bool deserted;     /* no device is there: this file completes the messages that go into the ring */
};

static struct waiting *place_at(const struct gyre_queue_levels *levels, uint32_t place)
{
    return (struct waiting *)(void *)(levels->places + place * levels->stride);
}

static struct gyre_queue_levels *levels_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_LEVELS);
}

static uint64_t levels_waiting(const gyre_queue *queue)
{
    return __atomic_load_n(&levels_of(queue)->waiting, __ATOMIC_ACQUIRE);
}

static uint64_t levels_outstanding(const gyre_queue *queue)
{
    const uint64_t waiting = levels_waiting(queue);
    const uint64_t finished = __atomic_load_n(&levels_of(queue)->finished, __ATOMIC_ACQUIRE);
    return waiting > finished ? waiting - finished : 0; /* both may have grown between the two loads */
}

static void count_waiting(struct gyre_queue_levels *levels, uint64_t waiting, uint64_t finished)
{
    __atomic_store_n(&levels->waiting, waiting, __ATOMIC_RELEASE); /* pairs with looks without the lock */
    __atomic_store_n(&levels->finished, finished, __ATOMIC_RELEASE);
}

/* A walk over all messages that wait, level by level. It begins as NOWHERE. */
struct walk {
    uint32_t levels; /* levels that the walk has left or is in */
    uint32_t place;  /* place of the next message; NOBODY: the next message is the first of the next level */
};
#define NOWHERE ((struct walk){0, NOBODY})

/* The next message of the walk; NULL after the last one. */
static struct waiting *next_waiting(const struct gyre_queue_levels *levels, struct walk *walk)
{
    while (walk->place == NOBODY && walk->levels < levels->count)
        walk->place = levels->levels[walk->levels++].first;
    if (walk->place == NOBODY)
        return NULL;
    struct waiting *waiting = place_at(levels, walk->place);
    walk->place = waiting->next;
    return waiting;
}

/* ---- in ---- */

static uint32_t level_of(const struct gyre_queue_levels *levels, const gyre_header *header)
{
    return header->priority < levels->count ? header->priority : levels->count - 1;
}

static uint64_t levels_pump(gyre_queue *queue);

static bool levels_push(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                        uint64_t *ticket)
{
    const gyre_header *header = request->headers;
    struct gyre_queue_levels *levels = levels_of(queue);
    const uint32_t place = levels->spare;
    if (place == NOBODY)
        return false;
    struct waiting *waiting = place_at(levels, place);
    struct level *level = &levels->levels[level_of(levels, header)];
    levels->spare = waiting->next;
    waiting->ticket = levels->next_ticket;
    __atomic_store_n(&levels->next_ticket, waiting->ticket + 1,
                     __ATOMIC_RELAXED); /* for threads that ask how many there are */
    waiting->queued_ns = gyre_clock_ns();
    waiting->header = *header;
    waiting->length = (uint32_t)request->size;
    waiting->mark = mark;
    waiting->over = false;
    waiting->next = NOBODY;
    gyre_header_complete(queue, &waiting->header, waiting->ticket, waiting->queued_ns);
    memcpy(waiting->request, request->bytes, request->size);
    if (level->first == NOBODY)
        level->first = place;
    else
        place_at(levels, level->last)->next = place;
    level->last = place;
    count_waiting(levels, levels->waiting + 1, levels->finished);
    *ticket = waiting->ticket;
    if (levels_pump(queue) == 0 || levels->waiting)
        gyre_attendant_expect(queue, 1); /* the window is full: somebody has to look again */
    return true;
}

/* ---- out ---- */

/* The rank of a level's first message: its level, raised by its age. At one rank the older message goes first. */
static uint64_t level_rank(const struct gyre_queue_levels *levels, uint32_t level, uint64_t now_ns)
{
    const struct waiting *first = place_at(levels, levels->levels[level].first);
    const uint64_t risen = level + (now_ns - first->queued_ns) / levels->age_ns;
    return risen < levels->count ? risen : levels->count - 1;
}

/* The level whose first message goes next; at least one message waits. */
static uint32_t level_choose(const struct gyre_queue_levels *levels, uint64_t now_ns)
{
    uint32_t best = NOBODY;
    uint64_t best_rank = 0;
    for (uint32_t level = 0; level < levels->count; level++) {
        if (levels->levels[level].first == NOBODY)
            continue;
        const uint64_t its = level_rank(levels, level, now_ns);
        const bool older = best != NOBODY && place_at(levels, levels->levels[level].first)->ticket <
                                                 place_at(levels, levels->levels[best].first)->ticket;
        if (best == NOBODY || its > best_rank || (its == best_rank && older)) {
            best = level;
            best_rank = its;
        }
    }
    return best;
}

/* The number of requests in the ring from the first unanswered one on. Some of them may be answered already, out of turn. */
static uint64_t under_way(gyre_queue *queue)
{
    struct gyre_queue_levels *levels = levels_of(queue);
    const uint64_t received = gyre_received(queue), sent = gyre_producer_sent(queue);
    if (levels->answered < received)
        levels->answered = received;
    while (levels->answered < sent && gyre_reply_ready(gyre_ring_of(queue), levels->answered))
        levels->answered++;
    return sent - levels->answered;
}

static bool waiting_put(gyre_queue *queue, const struct waiting *waiting, uint64_t now_ns)
{
    struct gyre_queue_levels *levels = levels_of(queue);
    const uint64_t index = gyre_producer_sent(queue), place = index & gyre_ring_of(queue)->mask;
    const bool late = waiting->header.deadline_ns && waiting->header.deadline_ns <= now_ns;
    const struct gyre_outgoing one = {waiting->request, waiting->length, 1, &waiting->header};
    if (index - gyre_received(queue) >= gyre_ring_of(queue)->capacity)
        return false;
    __atomic_store_n(&levels->tickets[place], waiting->ticket, __ATOMIC_RELAXED);
    __atomic_store_n(&levels->over[place], (uint8_t)waiting->over, __ATOMIC_RELAXED);
    const uint64_t granted =
        late || waiting->over ? gyre_queue_put_taken_back(queue, &one, waiting->mark, gyre_expiry_take_back)
                              : gyre_queue_put(queue, &one, waiting->mark);
    if (granted && levels->deserted)
        gyre_queue_complete_one(queue, index);
    return granted > 0;
}

static bool move_one(gyre_queue *queue)
{
    struct gyre_queue_levels *levels = levels_of(queue);
    const uint64_t now_ns = gyre_clock_ns();
    struct level *level = &levels->levels[level_choose(levels, now_ns)];
    const uint32_t place = level->first;
    struct waiting *waiting = place_at(levels, place);
    if (!waiting_put(queue, waiting, now_ns))
        return false;
    level->first = waiting->next;
    waiting->next = levels->spare;
    levels->spare = place;
    count_waiting(levels, levels->waiting - 1, levels->finished - waiting->over);
    return true;
}

static uint64_t levels_pump(gyre_queue *queue)
{
    uint64_t moved = 0;
    const struct gyre_queue_levels *levels = levels_of(queue);
    while (levels->waiting && under_way(queue) < levels->window && move_one(queue))
        moved++;
    return moved;
}

static void levels_move(gyre_queue *queue)
{
    uint64_t moved = 0;
    if (!levels_waiting(queue))
        return;
    gyre_producer_take(queue);
    moved = levels_pump(queue);
    gyre_producer_give(queue);
    if (!moved)
        return;
    gyre_queue_ring_doorbell(queue, moved);
    gyre_queue_ring_credit(queue); /* there is room for senders */
}

void gyre_levels_attend(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due)
{
    (void)now_ns;
    due->moved += levels_pump(queue);
    due->waiting = levels_waiting(queue) > 0;
    due->answered = levels_of(queue)->answered;
}

static uint64_t levels_end(gyre_queue *queue)
{
    struct gyre_queue_levels *levels = levels_of(queue);
    const uint64_t count = levels->waiting - levels->finished;
    struct walk walk = NOWHERE;
    struct waiting *waiting;
    levels->deserted = true;
    while ((waiting = next_waiting(levels, &walk)))
        waiting->over = true;
    count_waiting(levels, levels->waiting, levels->waiting);
    return count;
}

static void levels_begin(gyre_queue *queue)
{
    levels_of(queue)->deserted = false;
}

static bool levels_over(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&levels_of(queue)->over[index & gyre_ring_of(queue)->mask], __ATOMIC_RELAXED) != 0;
}

static void levels_failed(gyre_queue *queue, uint64_t index, bool taken)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index); /* the device is done with it */
    (void)taken;
    if (!levels_over(queue, index))
        return;
    slot->length = 0;
    slot->info = GYRE_OUTCOME_UNHANDLED;
}

static uint64_t levels_next(const gyre_queue *queue)
{
    return __atomic_load_n(&levels_of(queue)->next_ticket, __ATOMIC_RELAXED);
}

/* ---- tickets ---- */

static uint64_t levels_ticket(const gyre_queue *queue, uint64_t index)
{
    return __atomic_load_n(&levels_of(queue)->tickets[index & gyre_ring_of(queue)->mask], __ATOMIC_RELAXED);
}

static void levels_abandon(gyre_queue *queue, uint64_t ticket)
{
    struct walk walk = NOWHERE;
    struct waiting *waiting;
    while ((waiting = next_waiting(levels_of(queue), &walk)))
        if (waiting->ticket == ticket)
            waiting->mark = GYRE_MARK_ABANDONED;
}

static bool levels_find(gyre_queue *queue, uint64_t correlation, uint64_t *ticket)
{
    struct walk walk = NOWHERE;
    const struct waiting *waiting;
    bool found = false;
    /* acquire: a later look at the ring finds each message that has left the line */
    if (!levels_waiting(queue))
        return false;
    gyre_producer_take(queue);
    while ((waiting = next_waiting(levels_of(queue), &walk))) {
        if (waiting->mark != GYRE_MARK_SEND || waiting->header.correlation != correlation ||
            (found && waiting->ticket > *ticket))
            continue;
        *ticket = waiting->ticket;
        found = true;
    }
    gyre_producer_give(queue);
    return found;
}

/* ---- making ---- */

static void levels_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_levels *levels = state;
    (void)queue;
    free(levels->places);
    free(levels->tickets);
    free(levels->over);
    free(levels);
}

gyre_status gyre_levels_create(gyre_queue *queue, const struct gyre_queue_options *options)
{
    static const struct gyre_queue_stage stage = {
        .number = GYRE_STAGE_LEVELS, .failed = levels_failed, .destroy = levels_destroy};
    static const struct gyre_line line = {.push = levels_push,
                                          .pump = levels_pump,
                                          .abandon = levels_abandon,
                                          .begin = levels_begin,
                                          .end = levels_end,
                                          .move = levels_move,
                                          .waiting = levels_waiting,
                                          .outstanding = levels_outstanding,
                                          .next = levels_next,
                                          .find = levels_find,
                                          .ticket = levels_ticket,
                                          .over = levels_over};
    struct gyre_queue_levels *levels = calloc(1, sizeof *levels);
    const uint64_t capacity = gyre_ring_of(queue)->capacity;
    const uint64_t stride =
        (sizeof(struct waiting) + gyre_ring_of(queue)->request_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    gyre_status status = gyre_memory_left_check("the line of a queue with levels", capacity * stride,
                                                "memory", "use a smaller capacity or smaller messages");
    if (status != GYRE_OK) {
        free(levels);
        return status;
    }
    if (levels) {
        gyre_stage_add(queue, &stage, levels);
        levels->stride = stride;
        levels->count = options->levels;
        levels->age_ns = options->age_ns;
        levels->window = options->window < capacity ? options->window : capacity;
        levels->next_ticket = levels->answered = options->first_sequence;
        levels->places = gyre_lines_alloc(capacity * levels->stride);
        levels->tickets = gyre_lines_alloc(capacity * sizeof *levels->tickets);
        levels->over = gyre_lines_alloc(capacity);
    }
    if (!levels || !levels->places || !levels->tickets || !levels->over)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the levels of a queue");
    for (uint32_t i = 0; i < GYRE_LEVELS_MAX; i++)
        levels->levels[i] = (struct level){NOBODY, NOBODY};
    for (uint32_t place = 0; place < capacity; place++)
        place_at(levels, place)->next = place + 1 < capacity ? place + 1 : NOBODY;
    gyre_queue_set_line(queue, &line);
    return GYRE_OK;
}
