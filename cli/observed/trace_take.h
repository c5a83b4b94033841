/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the spans (gyre_observe_span) of processes from their observation files, and the names of the objects that spans are of.
 * Nothing of a file is believed: spans are checked when they are used (trace_json.h). One thread.
 */
#ifndef GYRE_CLI_OBSERVED_TRACE_TAKE_H
#define GYRE_CLI_OBSERVED_TRACE_TAKE_H

#include "cli/observed/observed.h"

enum { TRACE_OBJECTS_MOST = 16384 }; /* of a process; what comes later has no name */

/** A device, kernel, queue or link that a process had while it was traced. */
typedef struct trace_object {
    uint32_t kind, record;   /* another object may have had the same record before */
    uint32_t parent, device; /* records */
    uint64_t made_ns, key;
    char *text, *detail; /* its name, and what else is said of it, as JSON strings */
} trace_object;

typedef struct trace_process {
    uint32_t pid;
    uint64_t start;
    char *text;            /* the program and the process, as a JSON string */
    trace_object *objects; /* by kind, record and time */
    size_t object_count;
    trace_object **named;   /* the same by kind, key and time, after trace_sort_objects */
    uint64_t group;         /* the first number for rows of this process, after trace_sort_objects */
    uint64_t looks, events; /* of the process at itself, when the objects were listed */
    uint64_t *taken;        /* for each place of the ring: the number of the span that was taken there */
    uint32_t places;        /* 0: the process writes no spans */
    uint64_t before, last,
        missing; /* spans up to `before` are not wanted; the last one that was seen; those that were overwritten */
    uint64_t counted; /* spans that were taken */
    bool lives;
    bool on; /* it writes spans now */
} trace_process;

typedef struct trace_span {
    uint32_t process; /* its place in trace_set.processes */
    gyre_observe_span span;
} trace_span;

typedef struct trace_set {
    trace_process *processes;
    size_t process_count;
    trace_span *spans;
    size_t span_count, room;
    size_t most; /* spans that are kept */
    bool full;   /* there were more */
} trace_set;

/** Takes the spans that are new. Those of a process that was not seen before count only if `from_start`. Returns an exit code. */
int trace_take(trace_set *set, const observed_processes *processes, bool from_start);
/** Prepares trace_object_named, and numbers the processes' groups of rows; a later trace_take undoes it. False without memory. */
bool trace_sort_objects(trace_set *set);
/** How many spans were overwritten before they could be taken. */
uint64_t trace_missing(const trace_set *set);
void trace_finish(trace_set *set);

/**
 * The object that had a record at a time, or the one that a key names; NULL: it is not known. Of several the last one that was
 * made before that, else the first one.
 */
const trace_object *trace_object_of(const trace_process *process, uint32_t kind, uint32_t record,
                                    uint64_t at_ns);
const trace_object *trace_object_named(const trace_process *process, uint32_t kind, uint64_t key,
                                       uint64_t at_ns);

/* trace_record.c */

/** Who was asked. */
typedef struct trace_asked {
    char *path;
    int file; /* -1: it could not be asked */
} trace_asked;

/** Spans that are being taken. */
typedef struct trace_recording {
    trace_set set;
    int code; /* an exit code */
    /* trace_record.c's */
    observed_source source;
    uint64_t seconds;
    trace_asked *asked;
    size_t asked_count, answers_due;    /* processes that have to write spans before the time begins */
    uint64_t answer_until_ns, until_ns; /* until_ns 0: it has not begun */
} trace_recording;

/**
 * Asks the processes of `source` for spans. Those that cannot answer have a sentence on stderr; a failure if none can. Returns an exit
 * code; the recording is ended by trace_record_end in any case.
 */
int trace_record_begin(trace_recording *recording, const observed_source *source, uint64_t seconds,
                       size_t most);
/** Takes what there is. Called every 10 ms. False: the seconds are over, or `code` says what failed. */
bool trace_record_step(trace_recording *recording);
/** Asks no more, and frees what was taken. Accepts a recording that is all zeros. */
void trace_record_end(trace_recording *recording);

#endif
