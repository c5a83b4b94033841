/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of requests that travel in memory of the device (spans.c). The runtime provides that memory and the ways into
 * it.
 */
#ifndef GYRE_CORE_STAGES_SPANS_H
#define GYRE_CORE_STAGES_SPANS_H

#include "core/queue/queue.h"

/** The memory of a queue's spans. Everything named here outlives the queue. */
struct gyre_span_store {
    const gyre_layout *layout; /* the requests' layout, as the device has them */
    uint64_t threshold;        /* spans of more bytes are moved */
    uint64_t handle;           /* the memory's name in messages */
    uint64_t size;             /* the memory's, at least a unit (rooms.h) */
    void *context;             /* for upload and download, which may wait for the device */
    gyre_status (*upload)(void *context, uint64_t offset, const void *bytes, uint64_t size);
    gyre_status (*download)(void *context, uint64_t offset, void *bytes, uint64_t size);
    /** Writes where the device has the span. Under the producer lock; must not wait. */
    void (*settle)(const gyre_queue *queue, gyre_far *far);
};

/** Adds the stage to a queue whose requests have tails, before anything is sent. EXHAUSTED. */
gyre_status gyre_spans_create(gyre_queue *queue, const struct gyre_span_store *store);
/** Whether a queue has the stage. */
bool gyre_spans_has(const gyre_queue *queue);

/**
 * Fetches the moved spans of a copy of a request, which has room for request_size bytes, as far as they fit, and
 * returns its new length. A span that does not fit stays far, names no buffer, and says its size.
 */
uint32_t gyre_spans_bring_back(const gyre_queue *queue, void *request, uint32_t length);

#endif
