/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a queue: see log.h. No locks of its own.
 *
 * A sender first copies what the slots hold, then moves `saved`, then writes the slots. A reader copies from
 * a slot and looks at `saved` again: when it has moved past the index, what was read may be torn, and the
 * copy is in the log.
 */
#include "core/ring/log.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/ring/replay.h"

/* An entry of the log. */
struct entry {
    uint32_t length;
    uint32_t handled; /* a handler ran for it */
    /* then the header of the queue's messages, then the payload */
};

static struct entry *entry_of(const struct gyre_queue_log *log, uint64_t index)
{
    return (struct entry *)(void *)(log->entries + index % log->count * log->stride);
}

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* ---- making ---- */

static gyre_status no_room_for_one(const gyre_queue *queue, uint64_t bytes, uint32_t stride)
{
    char label[96];
    return gyre_error_set(GYRE_INVALID,
                          "%s: replay_log is %llu bytes, and one request takes %u there: use a larger one",
                          gyre_queue_label(queue, label, sizeof label), (unsigned long long)bytes, stride);
}

gyre_status gyre_queue_log_create(gyre_queue *queue, uint64_t bytes)
{
    uint32_t stride =
        ((uint32_t)sizeof(struct entry) + queue->header_size + queue->request_size + 15) / 16 * 16;
    if (bytes < stride)
        return no_room_for_one(queue, bytes, stride);
    struct gyre_queue_log *log = calloc(1, sizeof *log);
    size_t marks = (size_t)(queue->capacity + 7) / 8;
    if (log) {
        log->stride = stride;
        log->count = bytes / stride;
        log->entries = calloc(log->count, stride);
        log->base.done = calloc(marks, 1);
        log->coming.done = calloc(marks, 1);
    }
    queue->log = log;
    queue->annotated = true;
    if (!log || !log->entries || !log->base.done || !log->coming.done) {
        gyre_queue_log_destroy(queue);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a replay log of %llu bytes",
                              (unsigned long long)bytes);
    }
    log->saved = gyre_queue_next_index(queue);
    gyre_queue_log_restart(queue, UINT64_MAX);
    return GYRE_OK;
}

void gyre_queue_log_destroy(gyre_queue *queue)
{
    struct gyre_queue_log *log = queue->log;
    if (!log)
        return;
    queue->log = NULL;
    queue->annotated = queue->timing || queue->headers;
    free(log->entries);
    free(log->base.done);
    free(log->coming.done);
    free(log);
}

/* ---- the producer ---- */

/* A request that a device was told to pass over says no length of its own any more: its payload does. */
static uint32_t request_length(const gyre_queue *queue, const gyre_slot *slot)
{
    uint32_t length = slot->length;
    if (length == GYRE_LENGTH_ANSWERED && queue->request_least)
        memcpy(&length, slot + 1, sizeof length);
    return length < queue->request_size ? length : queue->request_size;
}

static const unsigned char *header_of(const gyre_queue *queue, uint64_t index)
{
    return queue->headers + (index & queue->mask) * queue->header_size;
}

static void save(const gyre_queue *queue, uint64_t index)
{
    const gyre_slot *slot = gyre_request_slot(queue, index);
    struct entry *entry = entry_of(queue->log, index);
    unsigned char *payload = (unsigned char *)(entry + 1) + queue->header_size;
    entry->length = request_length(queue, slot);
    entry->handled = gyre_queue_was_handled(queue, index);
    if (queue->header_size)
        memcpy(entry + 1, header_of(queue, index), queue->header_size);
    memcpy(payload, slot + 1, entry->length);
}

uint64_t gyre_queue_log_grant(gyre_queue *queue, uint64_t index, uint64_t wanted)
{
    struct gyre_queue_log *log = queue->log;
    uint64_t limit = load(&log->limit), base = load(&log->base.first);
    uint64_t granted = limit <= index ? 0 : limit - index < wanted ? limit - index : wanted;
    uint64_t end = index + granted, first = queue->shared->shape.first;
    if (end > first + queue->capacity && log->saved < end - queue->capacity) {
        for (uint64_t old = log->saved < base ? base : log->saved; old < end - queue->capacity; old++)
            save(queue, old);
        __atomic_store_n(&log->saved, end - queue->capacity, __ATOMIC_RELEASE); /* pairs with a reader's */
        __atomic_thread_fence(__ATOMIC_RELEASE); /* before the slots are written: pairs with read_slot's */
    }
    __atomic_store_n(&log->announced, end, __ATOMIC_RELEASE);
    if ((end >= load(&log->ask_at) || granted < wanted) &&
        !__atomic_exchange_n(&log->asked, 1, __ATOMIC_RELAXED))
        log->ask(log->ask_context);
    return granted;
}

bool gyre_queue_log_has_room(const gyre_queue *queue, uint64_t index)
{
    return !queue->log || index < load(&queue->log->limit);
}

/* ---- checkpoints ---- */

static bool is_marked(const struct gyre_queue_position *position, uint64_t place)
{
    return (position->done[place / 8] >> place % 8 & 1) != 0;
}

void gyre_queue_log_look(gyre_queue *queue)
{
    struct gyre_queue_position *position = &queue->log->coming;
    uint64_t sent = gyre_queue_next_index(queue);
    position->first = gyre_queue_first_unanswered(queue);
    queue->log->looked = true;
    memset(position->done, 0, (size_t)(queue->capacity + 7) / 8);
    for (uint64_t index = position->first; index < sent; index++) {
        uint64_t place = index - position->first;
        if (gyre_reply_ready(queue, index))
            position->done[place / 8] |= (uint8_t)(1u << place % 8);
    }
}

static void announce_base(gyre_queue *queue, uint64_t first, uint64_t ask_after)
{
    struct gyre_queue_log *log = queue->log;
    uint64_t half = (queue->capacity + log->count) / 2;
    __atomic_store_n(&log->base.first, first, __ATOMIC_RELEASE);
    __atomic_store_n(&log->limit, first + queue->capacity + log->count, __ATOMIC_RELEASE);
    __atomic_store_n(&log->ask_at, first + (ask_after < half ? ask_after : half), __ATOMIC_RELEASE);
    __atomic_store_n(&log->asked, 0, __ATOMIC_RELAXED);
    gyre_queue_ring_credit(queue);
}

void gyre_queue_log_commit(gyre_queue *queue, uint64_t ask_after)
{
    struct gyre_queue_log *log = queue->log;
    uint8_t *marks = log->base.done;
    if (!log->looked)
        return; /* it was opened meanwhile: nothing of it is in the checkpoint */
    log->looked = false;
    log->base.done = log->coming.done;
    log->coming.done = marks;
    announce_base(queue, log->coming.first, ask_after);
}

void gyre_queue_log_restart(gyre_queue *queue, uint64_t ask_after)
{
    struct gyre_queue_log *log = queue->log;
    memset(log->base.done, 0, (size_t)(queue->capacity + 7) / 8);
    announce_base(queue, gyre_queue_next_index(queue), ask_after);
}

uint64_t gyre_queue_log_behind(const gyre_queue *queue)
{
    return gyre_queue_first_unanswered(queue) - load(&queue->log->base.first);
}

/* ---- replay ---- */

static bool read_entry(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request)
{
    const struct entry *entry = entry_of(queue->log, index);
    request->length = entry->length;
    memcpy(&request->header, entry + 1, queue->header_size);
    memcpy(request->payload, (const unsigned char *)(entry + 1) + queue->header_size, entry->length);
    return entry->handled != 0;
}

/* False: the slot is another request's by now, and this one is in the log. */
static bool read_slot(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request,
                      bool *handled)
{
    const gyre_slot *slot = gyre_request_slot(queue, index);
    request->length = request_length(queue, slot);
    *handled = gyre_queue_was_handled(queue, index);
    if (queue->header_size)
        memcpy(&request->header, header_of(queue, index), queue->header_size);
    memcpy(request->payload, slot + 1, request->length);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the release fence of a sender that came here */
    return __atomic_load_n(&queue->log->saved, __ATOMIC_RELAXED) <= index;
}

/* Whether a request was answered since the checkpoint. */
static bool is_wanted(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_position *base = &queue->log->base;
    uint64_t place = index - load(&base->first);
    if (place < queue->capacity && is_marked(base, place))
        return false;
    return index < gyre_received(queue) || gyre_reply_ready(queue, index);
}

bool gyre_queue_log_next(const gyre_queue *queue, uint64_t *index, uint64_t end,
                         struct gyre_logged_request *request)
{
    const struct gyre_queue_log *log = queue->log;
    uint64_t first = load(&log->base.first);
    for (uint64_t at = *index < first ? first : *index; at < end; at++) {
        bool handled = false;
        if (!is_wanted(queue, at))
            continue;
        if (load(&log->saved) > at || !read_slot(queue, at, request, &handled))
            handled = read_entry(queue, at, request);
        request->header.deadline_ns = 0; /* it was kept then */
        *index = at;
        if (handled)
            return true;
    }
    *index = end;
    return false;
}
