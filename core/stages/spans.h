/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of requests that travel in memory of the device (spans.c). What that memory is, and how bytes
 * get there, is the runtime's; a queue without has NULL in its place.
 */
#ifndef GYRE_CORE_STAGES_SPANS_H
#define GYRE_CORE_STAGES_SPANS_H

#include "core/queue/queue.h"

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

/** Adds the stage to a queue whose requests have tails, before anything is sent. EXHAUSTED. */
gyre_status gyre_spans_create(gyre_queue *queue, const struct gyre_span_store *store);
/** Whether a queue has it. */
bool gyre_spans_has(const gyre_queue *queue);

/**
 * Fetches the moved spans of a copy of a request, which has room for request_size bytes, as far as they fit,
 * and returns its new length. One that does not fit is far, names no buffer, and says its size.
 */
uint32_t gyre_spans_bring_back(const gyre_queue *queue, void *request, uint32_t length);

#endif
