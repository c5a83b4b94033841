/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns collected spans into the events of a timeline, for whoever writes them in some form (trace_form): a group of rows for each device,
 * a row for each block, on which a slice is a message that its handler worked on; arrows along links; and for each timed message the
 * spans waited, handled and returned, which may overlap those of other messages.
 */
#ifndef GYRE_CLI_OBSERVED_TRACE_EVENTS_H
#define GYRE_CLI_OBSERVED_TRACE_EVENTS_H

#include <stdio.h>

#include "cli/observed/trace_take.h"

enum { TRACE_BLOCKS_MOST = 65536, TRACE_NO_BLOCK = TRACE_BLOCKS_MOST - 1 };

/** What was written. */
typedef struct trace_told {
    size_t messages, handled, arrows;
    size_t refused; /* spans that say what cannot be, and were left out */
    size_t cut;     /* spans that were left out because the text was long enough */
} trace_told;

/** Where events stand. */
typedef struct trace_row {
    uint64_t group, number; /* below 2^32, and 2^31; a group has its numbers for itself */
    const trace_process *process;
    const trace_object *kernel, *device; /* NULL: not known */
    uint32_t block;                      /* TRACE_NO_BLOCK: messages of which no block is known */
} trace_row;

typedef struct trace_writer {
    const trace_set *set;
    const struct trace_form *form;
    FILE *out;
    trace_told *told;
    const trace_span **blocks; /* HANDLED, by process, kernel, block and begin */
    size_t block_count;
    size_t most_bytes;
    bool begun;    /* of the form: an event was written */
    bool failed;   /* of the form: there was no memory */
    unsigned deep; /* of the form: sides that began and did not end */
    uint64_t tracks;
} trace_writer;

/** A form in which timelines are written. Names are JSON strings, with their quotes. */
typedef struct trace_form {
    void (*open)(trace_writer *to);
    /* Names a row; comes before all that stands on rows. */
    void (*row)(trace_writer *to, const trace_row *at);
    /* What a block's handler did, from span->span.started_ns to `end_ns`. Slices of a row do not overlap. */
    void (*slice)(trace_writer *to, const char *name, const trace_row *at, const trace_span *span,
                  uint64_t end_ns);
    /* One side of a span of a message. Spans of one message nest, and come one behind the other. */
    void (*side)(trace_writer *to, bool begins, const char *name, const trace_row *at, const trace_span *span,
                 uint64_t ns);
    /* One end of arrow number told->arrows, inside of a slice: first where it begins, then where it ends. */
    void (*arrow_end)(trace_writer *to, bool begins, const char *name, const trace_row *at, uint64_t ns);
    void (*close)(trace_writer *to);
} trace_form;

/**
 * Sorts the spans of the set and writes them by the stamps with which they begin. Leaves out what comes after `most_bytes` bytes of the stream, with an event or two beyond
 * them; SIZE_MAX: nothing. Errors of the stream are the caller's to find. False without memory.
 */
bool trace_write(trace_set *set, const trace_form *form, FILE *out, size_t most_bytes, trace_told *told);

/** The name of an object that may not be known (NULL), as a JSON string. */
const char *trace_name_of(const trace_object *object);
/** The queue of the request that a span belongs to; NULL: not known. */
const trace_object *trace_queue_of(const trace_writer *to, const trace_span *span);

#endif
