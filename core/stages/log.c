/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the requests of a queue that may have to be handled again, as log.h says. No locks of its own;
 * gyre_queue_put_logged takes the producer lock.
 *
 * A sender first copies the old contents of the slots, then moves `saved`, then writes the slots. A reader copies from
 * a slot and looks at `saved` again: if `saved` has moved past the index, the reader's copy may be torn, and the
 * request is in the log.
 */
#include "core/stages/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/base/memory_left.h"
#include "core/queue/bells.h"
#include "core/queue/choice_rules.h"
#include "core/queue/label.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/put.h"
#include "core/queue/resume.h"
#include "core/queue/side.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/ring/ring_message.h"
#include "core/stages/expiry.h"
#include "gyre/waiting.h"

#define LARGE_PAGE ((size_t)2 << 20)

/* An entry of the log. */
struct entry {
    uint32_t length;
    uint16_t handled; /* 1: a handler ran for the request */
    uint16_t query;   /* 1: a query, whose handler changes nothing; the entry has no payload then */
    /* then the header of the queue's messages, then the payload */
};

static struct entry *entry_of(const struct gyre_queue_log *log, uint64_t index)
{
    return (struct entry *)(void *)(log->entries + index % log->count * log->stride);
}

static uint64_t word_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* ---- sizes ---- */

static gyre_status no_room_for_one(const gyre_queue *queue, uint64_t bytes, uint32_t stride)
{
    char label[GYRE_LABEL_SIZE];
    return gyre_error_set(GYRE_INVALID,
                          "%s: replay_log is %llu bytes, and one request takes %u there: use a larger one",
                          gyre_queue_label(queue, label, sizeof label), (unsigned long long)bytes, stride);
}

static uint32_t entry_stride(const gyre_queue *queue)
{
    return ((uint32_t)sizeof(struct entry) + gyre_ring_of(queue)->slots.header_size +
            gyre_ring_of(queue)->request_size + 15) /
           16 * 16;
}

uint64_t gyre_queue_log_bytes(const gyre_queue *queue, uint64_t count)
{
    return count * entry_stride(queue);
}

/* ---- the producer ---- */

static void log_save(const gyre_queue *queue, uint64_t index)
{
    const gyre_slot *slot = gyre_request_slot(gyre_ring_of(queue), index);
    struct entry *entry = entry_of(gyre_log_of(queue), index);
    unsigned char *payload = (unsigned char *)(entry + 1) + gyre_ring_of(queue)->slots.header_size;
    entry->query = gyre_choice_is_query(gyre_choices_of(queue), slot + 1);
    entry->length = entry->query ? 0 : gyre_queue_request_length(queue, index);
    entry->handled = !entry->query && gyre_queue_was_handled(queue, index);
    if (gyre_ring_of(queue)->slots.header_size)
        memcpy(entry + 1, gyre_header_at(gyre_ring_of(queue), index), gyre_ring_of(queue)->slots.header_size);
    memcpy(payload, slot + 1, entry->length);
}

static uint64_t limit_of(const struct gyre_queue_log *log)
{
    uint64_t limit = word_load(&log->limit), journal = word_load(&log->journal_limit),
             held = word_load(&log->held_from);
    limit = limit < held ? limit : held;
    return limit < journal ? limit : journal;
}

/* Saves the old requests in the slots of the requests below `end`, which are about to be written. */
static void save_before(gyre_queue *queue, uint64_t end)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    uint64_t base = word_load(&log->base.first), old = log->saved < base ? base : log->saved;
    if (end <= gyre_ring_of(queue)->first_sequence + gyre_ring_of(queue)->capacity ||
        log->saved >= end - gyre_ring_of(queue)->capacity)
        return;
    for (; log->keeps && old < end - gyre_ring_of(queue)->capacity; old++) {
        log_save(queue, old);
        if (log->companion)
            log->companion->save(queue, old);
    }
    __atomic_store_n(&log->saved, end - gyre_ring_of(queue)->capacity,
                     __ATOMIC_RELEASE);      /* pairs with a reader's */
    __atomic_thread_fence(__ATOMIC_RELEASE); /* before the slots are written: pairs with read_slot's */
}

/* Rings the journal's bell if the journal's thread sleeps. The fence pairs with the journal's fence in sleep_for. */
static void wake_journal(const struct gyre_queue_log *log)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&log->journal_sleeps, __ATOMIC_RELAXED))
        gyre_bell_ring(log->journal_bell, INT_MAX);
}

/*
 * Wakes the thread that takes checkpoints and the thread that writes the journal. `ask_at` may still be the value of the
 * previous checkpoint, so that `asked` is set too early; gyre_queue_log_asks clears it again. Both functions exchange
 * `asked`, and the function whose exchange comes second sees the stores of the other one.
 */
static void log_tell(struct gyre_queue_log *log, uint64_t end)
{
    bool due = log->ask && end >= word_load(&log->ask_at);
    if (due && !__atomic_exchange_n(&log->asked, 1, __ATOMIC_ACQ_REL))
        log->ask(log->ask_context);
    if (log->journal_bell)
        wake_journal(log);
}

uint64_t gyre_queue_log_room(const gyre_queue *queue, uint64_t index, uint64_t wanted)
{
    const uint64_t limit = limit_of(gyre_log_of(queue));
    return limit <= index ? 0 : limit - index < wanted ? limit - index : wanted;
}

/* Copies the old requests of the slots from `index` on. Returns how many of the `wanted` slots may be written now. */
static uint64_t log_grant(gyre_queue *queue, uint64_t index, uint64_t wanted)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    uint64_t granted = gyre_queue_log_room(queue, index, wanted);
    uint64_t end = index + granted;
    save_before(queue, end);
    __atomic_store_n(&log->announced, end, __ATOMIC_RELEASE);
    log_tell(log, end);
    return granted;
}

bool gyre_queue_log_has_room(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_log *log = gyre_log_of(queue);
    return !log || index < limit_of(log);
}

bool gyre_queue_log_awaits_journal(const gyre_queue *queue)
{
    return gyre_queue_next_index(queue) >= word_load(&gyre_log_of(queue)->journal_limit);
}

void gyre_queue_log_tell_journal(gyre_queue *queue)
{
    const struct gyre_queue_log *log = gyre_log_of(queue);
    if (!log->journal_bell)
        return;
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* at least one of a receiver and a sender sees the other's store */
    if (gyre_queue_log_awaits_journal(queue) &&
        gyre_received(queue) + gyre_ring_of(queue)->capacity > word_load(&log->journal_limit))
        wake_journal(log);
}

/* The reason, for an error sentence, why the log holds up requests from `index` on. */
static const char *log_held(const gyre_queue *queue, uint64_t index)
{
    if (gyre_queue_log_has_room(queue, index))
        return NULL;
    return gyre_queue_log_awaits_journal(queue)
               ? "waits for its journal to be written: is there room on its disk?"
           : index >= word_load(&gyre_log_of(queue)->held_from)
               ? "waits for a checkpoint of its pipeline, for which all that was sent before is completed first"
               : "waits for a checkpoint, because its replay log is full: use a larger "
                 "replay_log, or more frequent checkpoints";
}

/* Wakes the threads that wait for room, for a checkpoint or for the journal. */
static void tell_waiting(gyre_queue *queue)
{
    gyre_queue_ring_credit(queue);
    gyre_origins_tell(queue);
}

void gyre_queue_log_set_journal_limit(gyre_queue *queue, uint64_t limit)
{
    __atomic_store_n(&gyre_log_of(queue)->journal_limit, limit, __ATOMIC_RELEASE);
    tell_waiting(queue);
}

void gyre_queue_log_note_group(gyre_queue *queue, uint64_t group_ns, uint64_t journal_bytes)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    if (group_ns >
        __atomic_load_n(&log->group_ns, __ATOMIC_RELAXED)) /* a look in between forgets one group */
        __atomic_store_n(&log->group_ns, group_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&log->journal_bytes, journal_bytes, __ATOMIC_RELAXED);
}

bool gyre_queue_log_journal_state(gyre_queue *queue, struct gyre_queue_journal_state *out)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    if (!log || !log->journal_bell)
        return false;
    const uint64_t durable = __atomic_load_n(&log->durable, __ATOMIC_ACQUIRE),
                   sent = gyre_queue_next_index(queue);
    *out = (struct gyre_queue_journal_state){.bytes = __atomic_load_n(&log->journal_bytes, __ATOMIC_RELAXED),
                                             .unsaved = sent > durable ? sent - durable : 0,
                                             .durable = durable,
                                             .group_ns =
                                                 __atomic_exchange_n(&log->group_ns, 0, __ATOMIC_RELAXED)};
    return true;
}

void gyre_queue_log_set_durable(gyre_queue *queue, uint64_t index)
{
    __atomic_store_n(&gyre_log_of(queue)->durable, index, __ATOMIC_RELEASE);
    tell_waiting(queue);
}

/* ---- checkpoints ---- */

static bool is_marked(const struct gyre_queue_position *position, uint64_t place)
{
    return (position->done[place / 8] >> place % 8 & 1) != 0;
}

void gyre_queue_log_look(gyre_queue *queue)
{
    struct gyre_queue_position *position = &gyre_log_of(queue)->coming;
    uint64_t sent = gyre_queue_next_index(queue);
    position->first = gyre_queue_first_unanswered(queue);
    gyre_log_of(queue)->looked = true;
    memset(position->done, 0, (size_t)(gyre_ring_of(queue)->capacity + 7) / 8);
    for (uint64_t index = position->first; index < sent; index++) {
        uint64_t place = index - position->first;
        if (gyre_reply_ready(gyre_ring_of(queue), index))
            position->done[place / 8] |= (uint8_t)(1u << place % 8);
    }
}

static void announce_base(gyre_queue *queue, uint64_t first, uint64_t ask_after)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    uint64_t half = (gyre_ring_of(queue)->capacity + log->count) / 2;
    __atomic_store_n(&log->base.first, first, __ATOMIC_RELEASE);
    uint64_t limit = first + gyre_ring_of(queue)->capacity + log->count,
             ask_at = first + (ask_after < half ? ask_after : half);
    __atomic_store_n(&log->limit, log->keeps ? limit : UINT64_MAX, __ATOMIC_RELEASE);
    __atomic_store_n(&log->ask_at, log->keeps ? ask_at : UINT64_MAX, __ATOMIC_RELEASE);
    __atomic_store_n(&log->asked, 0, __ATOMIC_RELAXED);
    tell_waiting(queue);
}

void gyre_queue_log_commit(gyre_queue *queue, uint64_t ask_after)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    uint8_t *marks = log->base.done;
    if (!log->looked)
        return; /* the queue was opened after the look: the checkpoint covers none of its requests */
    log->looked = false;
    log->base.done = log->coming.done;
    log->coming.done = marks;
    announce_base(queue, log->coming.first, ask_after);
}

void gyre_queue_log_restart(gyre_queue *queue, uint64_t ask_after)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    memset(log->base.done, 0, (size_t)(gyre_ring_of(queue)->capacity + 7) / 8);
    announce_base(queue, gyre_queue_next_index(queue), ask_after);
}

void gyre_queue_log_resume(gyre_queue *queue, uint64_t first, uint64_t ask_after)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    log->coming.first = first;
    memset(log->coming.done, 0, (size_t)(gyre_ring_of(queue)->capacity + 7) / 8);
    /* a completed request further away is a query, which is not handled again */
    const uint64_t next = gyre_queue_next_index(queue), end = next - first < gyre_ring_of(queue)->capacity
                                                                  ? next
                                                                  : first + gyre_ring_of(queue)->capacity;
    for (uint64_t index = first; index < end; index++)
        if (index >= gyre_received(queue) && gyre_reply_ready(gyre_ring_of(queue), index))
            log->coming.done[(index - first) / 8] |= (uint8_t)(1u << (index - first) % 8);
    log->looked = true;
    log->saved = gyre_received(queue);
    gyre_queue_log_commit(queue, ask_after);
}

static bool is_asked_for(const struct gyre_queue_log *log)
{
    return word_load(&log->announced) >= word_load(&log->ask_at);
}

bool gyre_queue_log_asks(gyre_queue *queue)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    if (is_asked_for(log))
        return true;
    __atomic_exchange_n(&log->asked, 0, __ATOMIC_ACQ_REL); /* pairs with a sender's, in log_tell() */
    return is_asked_for(log);
}

uint64_t gyre_queue_log_behind(const gyre_queue *queue)
{
    return gyre_queue_first_unanswered(queue) - word_load(&gyre_log_of(queue)->base.first);
}

void gyre_queue_log_hold(gyre_queue *queue)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    __atomic_store_n(&log->held_from, word_load(&log->announced), __ATOMIC_RELEASE);
}

void gyre_queue_log_let_go(gyre_queue *queue)
{
    __atomic_store_n(&gyre_log_of(queue)->held_from, UINT64_MAX, __ATOMIC_RELEASE);
    tell_waiting(queue);
}

/* A device takes requests in their order, so it has taken none behind one that is not published. */
bool gyre_queue_log_is_settled(const gyre_queue *queue)
{
    const uint64_t first = gyre_queue_first_unanswered(queue);
    return __atomic_load_n(&gyre_request_slot(gyre_ring_of(queue), first)->sequence, __ATOMIC_ACQUIRE) !=
           first + 1;
}

/* ---- replay ---- */

static bool read_entry(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request)
{
    const struct entry *entry = entry_of(gyre_log_of(queue), index);
    request->length = entry->length;
    request->query = entry->query != 0;
    memcpy(&request->header, entry + 1, gyre_ring_of(queue)->slots.header_size);
    memcpy(request->payload, (const unsigned char *)(entry + 1) + gyre_ring_of(queue)->slots.header_size,
           entry->length);
    return entry->handled != 0;
}

/* Copies request `index` from its slot. False when a sender gave the slot to another request meanwhile: then the log has it. */
static bool read_slot(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request,
                      bool *handled)
{
    const gyre_slot *slot = gyre_request_slot(gyre_ring_of(queue), index);
    request->query = gyre_choice_is_query(gyre_choices_of(queue), slot + 1);
    request->length = request->query ? 0 : gyre_queue_request_length(queue, index);
    *handled = !request->query && gyre_queue_was_handled(queue, index);
    if (gyre_ring_of(queue)->slots.header_size)
        memcpy(&request->header, gyre_header_at(gyre_ring_of(queue), index),
               gyre_ring_of(queue)->slots.header_size);
    memcpy(request->payload, slot + 1, request->length);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the release fence of a sender that came here */
    /* if `saved` has passed the request, the acquire makes the request's entry visible */
    return word_load(&gyre_log_of(queue)->saved) <= index;
}

bool gyre_queue_log_read(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request)
{
    bool handled = false;
    if (word_load(&gyre_log_of(queue)->saved) > index || !read_slot(queue, index, request, &handled))
        handled = read_entry(queue, index, request);
    return handled;
}

/* Whether a request was answered since the checkpoint. */
static bool log_replays(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_position *base = &gyre_log_of(queue)->base;
    uint64_t place = index - word_load(&base->first);
    if (place < gyre_ring_of(queue)->capacity && is_marked(base, place))
        return false;
    return index < gyre_received(queue) || gyre_reply_ready(gyre_ring_of(queue), index);
}

bool gyre_queue_log_next(const gyre_queue *queue, uint64_t *index, uint64_t end,
                         struct gyre_logged_request *request)
{
    uint64_t first = word_load(&gyre_log_of(queue)->base.first);
    for (uint64_t at = *index < first ? first : *index; at < end; at++) {
        if (!log_replays(queue, at))
            continue;
        bool handled = gyre_queue_log_read(queue, at, request);
        request->header.deadline_ns = 0; /* the deadline was kept when the request was handled first */
        *index = at;
        if (handled)
            return true;
    }
    *index = end;
    return false;
}

uint64_t gyre_queue_log_end(const gyre_queue *queue)
{
    const uint64_t first = word_load(&gyre_log_of(queue)->base.first), received = gyre_received(queue);
    /* a worker may write into slots of requests that nobody has sent */
    const uint64_t most = received + gyre_ring_of(queue)->capacity, sent = gyre_queue_next_index(queue);
    uint64_t index = sent < most ? sent : most;
    while (index > first && index > received && !gyre_reply_ready(gyre_ring_of(queue), index - 1))
        index--;
    return index > first ? index : first;
}

bool gyre_queue_log_is_ahead(const gyre_queue *queue)
{
    const struct gyre_queue_log *log = gyre_log_of(queue);
    if (!log)
        return false;
    const uint64_t first = word_load(&log->base.first), unanswered = gyre_queue_first_unanswered(queue);
    for (uint64_t place = unanswered > first ? unanswered - first : 0; place < gyre_ring_of(queue)->capacity;
         place++)
        if (is_marked(&log->base, place))
            return true;
    return false;
}

bool gyre_queue_log_is_damaged(const gyre_queue *queue, uint64_t end)
{
    uint64_t index = word_load(&gyre_log_of(queue)->base.first);
    for (; index < end; index++)
        if (log_replays(queue, index) && word_load(&gyre_log_of(queue)->saved) <= index &&
            gyre_queue_is_damaged(queue, index) &&
            word_load(&gyre_log_of(queue)->saved) <=
                index) /* looks again: if a sender uses the slot anew by now, the log has a whole copy */
            return true;
    return false;
}

bool gyre_queue_put_logged(gyre_queue *queue, const struct gyre_logged_request *request)
{
    const struct gyre_outgoing one = {request->payload, request->length, 1, &request->header};
    gyre_producer_take(queue); /* the attendant of a queue with deadlines may run already */
    gyre_queue_send_again(queue, true);
    const bool put = gyre_queue_put(queue, &one, GYRE_MARK_SEND) > 0;
    gyre_queue_send_again(queue, false);
    gyre_producer_give(queue);
    return put;
}

void gyre_queue_log_put(gyre_queue *queue, uint64_t index, const struct gyre_logged_request *request,
                        bool handled)
{
    struct entry *entry = entry_of(gyre_log_of(queue), index);
    entry->length = request->length;
    entry->query = request->query;
    entry->handled = handled && !request->query;
    memcpy(entry + 1, &request->header, gyre_ring_of(queue)->slots.header_size);
    memcpy((unsigned char *)(entry + 1) + gyre_ring_of(queue)->slots.header_size, request->payload,
           request->length);
}

/* ---- making ---- */

/*
 * Asks for large pages. A stream writes the log from front to end, and would wait for each small page at its first message
 * there, longer than for everything else that is done with the message. If the system has no large pages, nothing changes.
 */
static void ask_for_large_pages(unsigned char *entries, size_t size)
{
    const uintptr_t first = ((uintptr_t)entries + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE,
                    end = (uintptr_t)entries + size;
    if (end > first && end - first >= LARGE_PAGE)
        (void)madvise(entries + (first - (uintptr_t)entries), end - first, MADV_HUGEPAGE);
}

static void log_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_log *log = state;
    (void)queue;
    if (log->companion)
        log->companion->destroy(log->companion);
    free(log->entries);
    free(log->base.done);
    free(log->coming.done);
    free(log);
}

gyre_status gyre_queue_log_create(gyre_queue *queue, uint64_t bytes)
{
    static const struct gyre_queue_stage stage = {.number = GYRE_STAGE_LOG,
                                                  .grant = log_grant,
                                                  .held = log_held,
                                                  .tell = gyre_queue_log_tell_journal,
                                                  .destroy = log_destroy};
    uint32_t stride = entry_stride(queue);
    if (bytes && bytes < stride)
        return no_room_for_one(queue, bytes, stride);
    gyre_status status = gyre_memory_left_check("a replay log", bytes, "memory", "use a smaller replay_log");
    if (status != GYRE_OK)
        return status;
    struct gyre_queue_log *log = gyre_lines_alloc(sizeof *log);
    size_t marks = (size_t)(gyre_ring_of(queue)->capacity + 7) / 8;
    if (log) {
        log->keeps = bytes != 0;
        log->stride = stride;
        log->count = log->keeps ? bytes / stride : 1;
        log->entries = calloc(log->count, stride);
        if (log->entries)
            ask_for_large_pages(log->entries, (size_t)log->count * stride);
        log->base.done = calloc(marks, 1);
        log->coming.done = calloc(marks, 1);
        log->journal_limit = log->held_from = UINT64_MAX;
        gyre_stage_add(queue, &stage, log);
    }
    if (!log || !log->entries || !log->base.done || !log->coming.done) {
        gyre_queue_log_destroy(queue);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a replay log of %llu bytes",
                              (unsigned long long)bytes);
    }
    log->saved = log->durable = gyre_queue_next_index(queue);
    gyre_queue_log_restart(queue, UINT64_MAX);
    return GYRE_OK;
}

void gyre_queue_log_destroy(gyre_queue *queue)
{
    gyre_stage_remove(queue, GYRE_STAGE_LOG);
}
