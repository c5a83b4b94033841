/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: options of a queue that do more to its messages than carry them. A stage (core/stages, a file each) is a
 * table of functions, one for each station of a message's way at which the stage does something. A queue has a list of
 * functions for each station, in the order of the stages' numbers; it knows no stage by name.
 *
 * A queue without stages pays one look at `noted` or at an empty list.
 */
#ifndef GYRE_CORE_QUEUE_STAGE_H
#define GYRE_CORE_QUEUE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/gyre.h"

enum { GYRE_STAGES_MAX = 12, GYRE_STATION_MAX = 6 };

/** Requests that are about to be published: indices [first, end). */
struct gyre_sending {
    uint64_t first, end;
    const void *requests; /* their bytes, `stride` apart, as they go into the ring */
    size_t stride;
    bool in_place;            /* they were built there (gyre_reserve), and not converted before */
    const gyre_header *given; /* their headers; NULL: their sender gave none, or they are in place */
};

/** Each function may be NULL. Locks: the side's, as said at each. */
struct gyre_queue_stage {
    unsigned number; /* in the order of their work at a station; each stage has its own */

    /* admit: no lock; may wait. Changes *count copies of requests, `request_size` apart, before they are in the ring; may
     * make *count less. After a failure the stage holds nothing. */
    gyre_status (*admit)(gyre_queue *queue, void *requests, size_t *count, uint64_t deadline_ns);
    /* recall: no lock. Requests [first, end) of the admitted ones were not sent after all. */
    void (*recall)(gyre_queue *queue, void *requests, size_t first, size_t end);
    /* grant: producer. How many of the `wanted` indices from `index` on may be sent now. */
    uint64_t (*grant)(gyre_queue *queue, uint64_t index, uint64_t wanted);
    /* held: any thread. Why the request of this index may not be granted now, as the words behind the queue's label in
     * a sentence; NULL: it may. */
    const char *(*held)(const gyre_queue *queue, uint64_t index);
    /* sent: producer. Notes something of requests before they are published. */
    void (*sent)(gyre_queue *queue, const struct gyre_sending *sending);
    /* seen: consumer. Looks at completions [first, end), as far as they are there, before a client does. */
    void (*seen)(const gyre_queue *queue, uint64_t first, uint64_t end);
    /* failed: consumer. The completion of `index` is a failure: writes its cause into it. `taken`: a client takes it;
     * else it is only shown. */
    void (*failed)(gyre_queue *queue, uint64_t index, bool taken);
    /* taken: consumer. A receiver or a caller takes completions [first, end); their slots are not given back yet. */
    void (*taken)(gyre_queue *queue, uint64_t first, uint64_t end);
    /* told: consumer. Fills in the stage's part of `info` about the completion of `index`. */
    void (*told)(const gyre_queue *queue, uint64_t index, gyre_message_info *info);
    /* passed: consumer. The cursor is about to move over completions [first, end), however they ended. */
    void (*passed)(gyre_queue *queue, uint64_t first, uint64_t end);
    /* tell: any thread. Room was made, or a sender is about to wait for it. */
    void (*tell)(gyre_queue *queue);
    /* count: any thread. Fills in the stage's part of the statistics. */
    void (*count)(const gyre_queue *queue, gyre_queue_stats *stats);
    /* close: the queue is being freed: ends its threads and the waits of others. Its memory stays. */
    void (*close)(gyre_queue *queue);
    /* destroy: frees its state. Nobody is in the queue any more. */
    void (*destroy)(gyre_queue *queue, void *state);
};

/** The lists end with NULL. Written while nobody else uses the queue. */
struct gyre_queue_stages {
    bool noted;                    /* something is noted of every message, or given back for it */
    void *states[GYRE_STAGES_MAX]; /* by the stages' numbers; NULL: the queue has not that stage */
    const struct gyre_queue_stage *all[GYRE_STAGES_MAX];
    gyre_status (*admit[GYRE_STATION_MAX])(gyre_queue *, void *, size_t *, uint64_t);
    void (*recall[GYRE_STATION_MAX])(gyre_queue *, void *, size_t, size_t);
    uint64_t (*grant[GYRE_STATION_MAX])(gyre_queue *, uint64_t, uint64_t);
    const char *(*held[GYRE_STATION_MAX])(const gyre_queue *, uint64_t);
    void (*sent[GYRE_STATION_MAX])(gyre_queue *, const struct gyre_sending *);
    void (*seen[GYRE_STATION_MAX])(const gyre_queue *, uint64_t, uint64_t);
    void (*failed[GYRE_STATION_MAX])(gyre_queue *, uint64_t, bool);
    void (*taken[GYRE_STATION_MAX])(gyre_queue *, uint64_t, uint64_t);
    void (*told[GYRE_STATION_MAX])(const gyre_queue *, uint64_t, gyre_message_info *);
    void (*passed[GYRE_STATION_MAX])(gyre_queue *, uint64_t, uint64_t);
    void (*tell[GYRE_STATION_MAX])(gyre_queue *);
};

/** Adds a stage with its state, which is not NULL and the queue's from now on. No other thread uses the queue. */
void gyre_stage_add(gyre_queue *queue, const struct gyre_queue_stage *stage, void *state);
/** Takes a stage away again and destroys its state. Accepts a queue without that stage. */
void gyre_stage_remove(gyre_queue *queue, unsigned number);
/** The state of a stage; NULL: the queue has not that stage. */
void *gyre_stage_state(const gyre_queue *queue, unsigned number);

#endif
