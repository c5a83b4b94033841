/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage that lets large spans (arrays in requests) travel in memory of the device. The runtime provides that memory, and
 * the functions that copy into and out of it.
 */
#ifndef GYRE_CORE_STAGES_SPANS_H
#define GYRE_CORE_STAGES_SPANS_H

#include "core/queue/queue.h"

/** The device memory for a queue's spans. Everything that a member points to outlives the queue. */
struct gyre_span_store {
    const gyre_layout *layout; /* the layout of requests on the device */
    uint64_t threshold;        /* spans of more bytes are moved */
    uint64_t handle;           /* the memory's name in messages */
    uint64_t size;             /* bytes of the memory, at least one unit (rooms.h) */
    void *context;             /* for upload and download, which may wait for the device */
    gyre_status (*upload)(void *context, uint64_t offset, const void *bytes, uint64_t size);
    gyre_status (*download)(void *context, uint64_t offset, void *bytes, uint64_t size);
    /** Writes the address at which the device has the span into *far. Under the producer lock; must not wait. */
    void (*settle)(const gyre_queue *queue, gyre_far *far);
};

/** Adds the stage to a queue whose requests have tails, before anything is sent. EXHAUSTED. */
gyre_status gyre_spans_create(gyre_queue *queue, const struct gyre_span_store *store);
/** True when the queue has the stage. */
bool gyre_spans_has(const gyre_queue *queue);

/**
 * Fetches the moved spans back into `request`, a copy of a request with room for request_size bytes. Returns the copy's new
 * length. A span that does not fit is not fetched: it names no buffer then, and says its size.
 */
uint32_t gyre_spans_bring_back(const gyre_queue *queue, void *request, uint32_t length);

#endif
