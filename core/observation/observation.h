/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the observation file of this process (gyre/observe.h), which all runtimes of the process share. No call waits for a
 * reader, and none is on the path of a message: the file is written by looks at the objects and by what the log is told.
 *
 * A call without room in memory or in the file counts what it left out, and has no other effect. Calls with a NULL object, and
 * calls in a process that the writer forked, do nothing. Any thread; a lock of the object is held while something is written.
 */
#ifndef GYRE_CORE_OBSERVATION_OBSERVATION_H
#define GYRE_CORE_OBSERVATION_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gyre/observe.h"
#include "gyre/status.h"
#include "gyre/trace.h"

struct gyre_observation;

/** When spans of messages are written; in the order of the words of `observe.trace`. */
enum gyre_tracing {
    GYRE_TRACING_ASKED,  /* while a reader asks (gyre_observed_ask) */
    GYRE_TRACING_ALWAYS, /* so that they are there when the process has died */
    GYRE_TRACING_NEVER
};

struct gyre_observation_desc {
    const char *folder; /* "": the usual one (observation_folder.h) */
    mode_t mode;        /* of the file */
    uint64_t every_ns;
    unsigned keep; /* files of dead processes that stay in the folder; older ones are removed */
    enum gyre_tracing tracing;
};

/**
 * Opens the file of this process, or takes part in it where a runtime has opened it: `desc` then has no effect. After a failure
 * *out is NULL, and the sentence says what to do.
 */
gyre_status gyre_observation_open(const struct gyre_observation_desc *desc, struct gyre_observation **out);
/** The memory stays when the file goes: a handler that does not return was left behind, and its block writes a span if it ever does. */
void gyre_observation_keep(struct gyre_observation *observation);
/** Removes the file with the last runtime that takes part. */
void gyre_observation_close(struct gyre_observation *observation);

/** Where the file lies. */
const char *gyre_observation_path(const struct gyre_observation *observation);
/** How far two looks should be apart; 0 without a file. */
uint64_t gyre_observation_every_ns(const struct gyre_observation *observation);

/** Takes a record for a new object. Its `generation` is given by this call. Returns its number; 0: there is no place. */
uint32_t gyre_observation_enter(struct gyre_observation *observation, const gyre_observe_record *about);
/** Does what gyre_observation_enter does, unless there is a record of that kind, parent, name and detail: returns that one. */
uint32_t gyre_observation_enter_once(struct gyre_observation *observation, const gyre_observe_record *about);
/** Gives the record back. Number 0 does nothing. */
void gyre_observation_leave(struct gyre_observation *observation, uint32_t record);
/** Notes the state of a record's object, and since when. No effect where the state stays. True: it changed. */
bool gyre_observation_state(struct gyre_observation *observation, uint32_t record, uint32_t state);
/** Writes one value of a record between two looks: word 0 stays what it is. Number 0 does nothing. */
void gyre_observation_value(struct gyre_observation *observation, uint32_t record, uint32_t word,
                            uint64_t value);
/** Writes the values of a record: `words[1]` and following; word 0 becomes the time. Number 0 does nothing. */
void gyre_observation_values(struct gyre_observation *observation, uint32_t record, const uint64_t *words,
                             size_t count);
/**
 * Writes a histogram of a record: `histogram->record` is its number. Number 0 does nothing. `is_told`: another program tells it, and it
 * gets no place that is kept free for what this program measures.
 */
void gyre_observation_histogram(struct gyre_observation *observation, const gyre_observe_histogram *histogram,
                                bool is_told);
/** Writes how busy the `count` blocks of a kernel are; `record` is its number. Number 0 does nothing. */
void gyre_observation_blocks(struct gyre_observation *observation, uint32_t record,
                             const gyre_observe_block *blocks, uint32_t count);
/** Notes that all objects were looked at, and how many of them found no place. Looks whether a reader asks for spans. */
void gyre_observation_beat(struct gyre_observation *observation);

/* observation_trace.c */

/** The ring of spans, for those who write some; NULL: nobody does. It is there until the last runtime closes,
 * and then as well if it is kept (gyre_observation_keep). */
gyre_trace *gyre_observation_trace(struct gyre_observation *observation);

/* observation_note.c */

void gyre_observation_event(struct gyre_observation *observation, enum gyre_observe_event_kind kind,
                            uint32_t record, const char *format, ...) __attribute__((format(printf, 4, 5)));
/** Counts a sentence of the log. */
void gyre_observation_trouble(struct gyre_observation *observation, uint32_t level, const char *text);

#endif
