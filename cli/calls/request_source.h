/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the requests of `gyre call` from arguments, or from the lines of a descriptor. One thread.
 *
 * Blank lines are skipped. Lines may be as long as REQUEST_LINE_MAX; the last one needs no newline.
 */
#ifndef GYRE_CLI_CALLS_REQUEST_SOURCE_H
#define GYRE_CLI_CALLS_REQUEST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

enum { REQUEST_LINE_MAX = 16 * 1024 * 1024 };

typedef struct request_source {
    const char *const *texts; /* arguments that are left; NULL: the source reads lines */
    size_t text_count;
    int descriptor;
    char *buffer; /* bytes that were read; [start, end) are not taken yet */
    size_t start, end, capacity;
    bool ended;      /* the descriptor has no more */
    bool skipping;   /* the rest of a refused line is still to come */
    uint64_t number; /* line or argument of the request taken last, from 1 */
} request_source;

typedef enum request_state {
    REQUEST_READY,
    REQUEST_NOT_YET, /* no request is there without waiting */
    REQUEST_END,
    REQUEST_REFUSED, /* a line is too long, and the thread's error says so; the next line may be fine */
    REQUEST_ERROR    /* the source failed, and the thread's error says why */
} request_state;

/** Prepares a source of requests from `count` texts, borrowed. */
void request_source_init_texts(request_source *source, const char *const *texts, size_t count);
/** Prepares a source of requests from the lines of an open descriptor, borrowed. */
void request_source_init_lines(request_source *source, int descriptor);
void request_source_finish(request_source *source);

/** The next request; it stays valid until the next call. Blocks only when `wait` is true. */
request_state request_source_next(request_source *source, bool wait, const char **text, size_t *length);

/** Writes the place of the request taken last to `text`: "line 3 of standard input" or "request 3". Returns `text`. */
const char *request_source_place(const request_source *source, char *text, size_t size);

#endif
