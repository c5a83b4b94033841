/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of the requests of `gyre call`: arguments, or the lines of a descriptor. One thread.
 *
 * Blank lines are skipped. Lines may be as long as REQUEST_LINE_MAX; the last one needs no newline.
 */
#ifndef GYRE_CLI_REQUEST_SOURCE_H
#define GYRE_CLI_REQUEST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

enum { REQUEST_LINE_MAX = 16 * 1024 * 1024 };

typedef struct request_source {
    const char *const *texts; /* arguments that are left; NULL: lines */
    size_t text_count;
    int descriptor;
    char *buffer; /* holds what was read and not taken: [start, end) */
    size_t start, end, capacity;
    bool ended;      /* the descriptor has no more */
    bool skipping;   /* the rest of a line that was refused is still to come */
    uint64_t number; /* of the request taken last: line or argument, from 1 */
} request_source;

typedef enum request_state {
    REQUEST_READY,
    REQUEST_NOT_YET, /* nothing there without waiting */
    REQUEST_END,
    REQUEST_REFUSED, /* a line that is too long: the thread's error says so. The next one may be fine */
    REQUEST_ERROR    /* the thread's error says why */
} request_state;

/** Requests from `count` texts, borrowed. */
void request_source_init_texts(request_source *source, const char *const *texts, size_t count);
/** Requests from the lines of an open descriptor, borrowed. */
void request_source_init_lines(request_source *source, int descriptor);
void request_source_finish(request_source *source);

/** The next request; it stays valid until the next call. Blocks only when `wait` is true. */
request_state request_source_next(request_source *source, bool wait, const char **text, size_t *length);

/** "line 3 of standard input" or "request 3": of the request taken last. Writes to `text`. */
const char *request_source_place(const request_source *source, char *text, size_t size);

#endif
