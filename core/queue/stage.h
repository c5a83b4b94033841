/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects a queue with its stages: options that do more to messages than carry them, such as expiry or checksums. A stage
 * (core/stages, a file each) is a table of functions, one for each station of a message's way at which the stage acts. A
 * queue has a list of functions for each station, in the order of the stages' numbers. It knows no stage by name.
 *
 * At each station, a queue without stages only tests `noted_mask`, `frees` or the first entry of an empty list.
 */
#ifndef GYRE_CORE_QUEUE_STAGE_H
#define GYRE_CORE_QUEUE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/gyre.h"

enum { GYRE_STAGES_MAX = 12, GYRE_STATION_MAX = 6 };

/** Requests that are about to be published, for the station `sent`: indices [first, end). */
struct gyre_sending {
    uint64_t first, end;
    const void *requests; /* the bytes of the requests, `stride` apart, as they go into the ring */
    size_t stride;
    bool in_place;            /* the requests were built in the ring (gyre_reserve) and not converted */
    const gyre_header *given; /* the sender's headers; NULL: it gave none, or `in_place` */
};

/** A stage: a function for each station, or NULL. The word behind a station's name tells the side whose lock is held, as in
 * "grant: producer". */
struct gyre_queue_stage {
    unsigned number; /* unique; at a station, stages with lower numbers act first */

    /* admit: no lock; may wait. Changes *count copies of requests, `request_size` apart, before they are in the ring; may
     * make *count less. After a failure the stage holds nothing. */
    gyre_status (*admit)(gyre_queue *queue, void *requests, size_t *count, uint64_t deadline_ns);
    /* recall: no lock. Takes back what `admit` did for requests [first, end), which were not sent after all. */
    void (*recall)(gyre_queue *queue, void *requests, size_t first, size_t end);
    /* grant: producer. How many of the `wanted` indices from `index` on may be sent now. */
    uint64_t (*grant)(gyre_queue *queue, uint64_t index, uint64_t wanted);
    /* held: any thread. Why request `index` may not be granted now, as the words behind the queue's label in a sentence;
     * NULL: it may be granted. */
    const char *(*held)(const gyre_queue *queue, uint64_t index);
    /* sent: producer. Notes what the stage needs about requests, before they are published. */
    void (*sent)(gyre_queue *queue, const struct gyre_sending *sending);
    /* seen: consumer. Looks at completions [first, end), as far as they are there, before a client does. */
    void (*seen)(const gyre_queue *queue, uint64_t first, uint64_t end);
    /* failed: consumer. Writes the cause into the completion of `index`, which is a failure. `taken`: a client takes the
     * completion; else the completion is only shown in a view. */
    void (*failed)(gyre_queue *queue, uint64_t index, bool taken);
    /* taken: consumer. Notes that a receiver or a caller takes completions [first, end), before their slots are given
     * back. */
    void (*taken)(gyre_queue *queue, uint64_t first, uint64_t end);
    /* told: consumer. Fills in the stage's part of `info` about the completion of `index`. */
    void (*told)(const gyre_queue *queue, uint64_t index, gyre_message_info *info);
    /* passed: consumer. Frees what the stage holds for completions [first, end), before the cursor moves over them. Called
     * however the requests ended. */
    void (*passed)(gyre_queue *queue, uint64_t first, uint64_t end);
    /* tell: any thread. Called when room was made, or when a sender is about to wait for room. */
    void (*tell)(gyre_queue *queue);
    /* count: any thread. Fills in the stage's part of the statistics. */
    void (*count)(const gyre_queue *queue, gyre_queue_stats *stats);
    /* close: called before the queue is freed: ends the stage's threads, and waits in the stage. Its memory stays. */
    void (*close)(gyre_queue *queue);
    /* destroy: frees the stage's state, when no thread is in the queue any more. */
    void (*destroy)(gyre_queue *queue, void *state);
};

/** The stages of a queue. Each list ends with NULL. Written while no other thread uses the queue. */
struct gyre_queue_stages {
    /* The stations `grant`, `sent` and `taken` are for messages whose index has none of these bits, and for ranges with such a
     * message. All bits: no stage is there. */
    uint64_t noted_mask;
    bool frees;                    /* a stage, or the ring of bytes, frees something for each message */
    void *states[GYRE_STAGES_MAX]; /* the stages' states, by their numbers; NULL: no such stage here */
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

/** Whether a stage notes the message of that index. True for index 0 of every queue. */
static inline bool gyre_stages_note(const struct gyre_queue_stages *stages, uint64_t index)
{
    return (index & stages->noted_mask) == 0;
}

/** Whether a stage notes a message of [first, end). */
static inline bool gyre_stages_note_some(const struct gyre_queue_stages *stages, uint64_t first, uint64_t end)
{
    /* an index without these bits lies between two numbers that differ above them */
    return ((first - 1) ^ (end - 1)) > stages->noted_mask;
}

#endif
