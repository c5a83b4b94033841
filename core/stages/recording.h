/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: the stage that writes each request and how it ended to a file, a line of JSON each (docs/testing.md). */
#ifndef GYRE_CORE_STAGES_RECORDING_H
#define GYRE_CORE_STAGES_RECORDING_H

#include "core/queue/queue.h"

struct gyre_recording_desc {
    const char *path;
    const char *header; /* the file's first line, with its newline */
    uint64_t failures;  /* not 0: the file gets the last messages up to a failure, so many */
    /* called once when a line cannot be written: `sentence` says why, and the recording ends there */
    void (*failed)(const void *context, const char *sentence);
    const void *context; /* outlives the queue */
};

/**
 * Adds the stage to a queue without express replies. Begins the file anew. INVALID when another queue records into the file, and
 * when it is no regular file; FAILED when it cannot be opened or written; EXHAUSTED.
 */
gyre_status gyre_recording_create(gyre_queue *queue, const struct gyre_recording_desc *desc);

#endif
