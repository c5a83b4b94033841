/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of requests that travel in memory of the device (spans.c). What that memory is, and how bytes
 * get there, is the runtime's; a queue without has NULL in its place.
 */
#ifndef GYRE_CORE_STAGES_SPANS_H
#define GYRE_CORE_STAGES_SPANS_H

#include "core/queue/queue_inside.h"

/** The memory of a queue's spans. What is named here outlives the queue. */
struct gyre_span_store {
    const gyre_layout *layout; /* of its requests, as the device has them */
    uint64_t threshold;        /* spans of more bytes are moved */
    uint64_t handle;           /* the memory's name in messages */
    uint64_t size;             /* of it, at least a unit (rooms.h) */
    void *context;             /* of the next two, which may wait for the device */
    gyre_status (*upload)(void *context, uint64_t offset, const void *bytes, uint64_t size);
    gyre_status (*download)(void *context, uint64_t offset, void *bytes, uint64_t size);
    /** Writes where the device has it. Under the producer lock; must not wait. */
    void (*settle)(const gyre_queue *queue, gyre_far *far);
};

/** For a queue whose requests have tails, before anything is sent. EXHAUSTED. */
gyre_status gyre_queue_spans_create(gyre_queue *queue, const struct gyre_span_store *store);
/** Accepts a queue without. */
void gyre_queue_spans_destroy(gyre_queue *queue);
void gyre_queue_spans_stats(const gyre_queue *queue, gyre_queue_stats *stats);

/**
 * Moves the large spans of *count requests, request_size bytes apart. Where room is lacking a span that is in
 * its message stays there; one that is not (gyre_put_large) waits for room in the first request, and in
 * another one ends the batch before it: *count is then less. INVALID, AGAIN, TIMEOUT, and what an upload
 * fails for; nothing is held then.
 */
gyre_status gyre_queue_spans_take(gyre_queue *queue, void *requests, size_t *count, uint64_t deadline_ns);
/** Requests [first, count) of these were not sent after all. */
void gyre_queue_spans_give_back(gyre_queue *queue, void *requests, size_t first, size_t count);

/** Under the producer lock: requests [first, end), `stride` bytes apart (NULL: without such spans), are about
 * to be published. May be undone by the next call for the same indices. */
void gyre_queue_spans_sent(gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                           size_t stride);
/** Under the consumer lock: the cursor passes completions [first, end). */
void gyre_queue_spans_done(gyre_queue *queue, uint64_t first, uint64_t end);

/**
 * Fetches the moved spans of a copy of a request, which has room for request_size bytes, as far as they fit,
 * and returns its new length. One that does not fit is far, names no buffer, and says its size.
 */
uint32_t gyre_queue_spans_bring_back(const gyre_queue *queue, void *request, uint32_t length);

#endif
