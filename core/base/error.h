/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the error stack of each thread: every status that is not GYRE_OK leaves a sentence here.
 *
 * The place that detects an error calls gyre_error_set (what, where, expected, found, what to do); a layer
 * that passes it on may put a frame on top with gyre_error_add ("while opening backend 'cpu'"). Storage is
 * fixed: no allocation on the error path, long texts are cut. Threads: each has its own stack. None of it
 * blocks.
 */
#ifndef GYRE_CORE_BASE_ERROR_H
#define GYRE_CORE_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** Starts a new error with one frame; returns `status`, so that callers can `return gyre_error_set(...)`. */
gyre_status gyre_error_set(gyre_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** As gyre_error_set, with a finished sentence: for a poll that finds nothing, because formatting would make it slow. */
gyre_status gyre_error_set_text(gyre_status status, const char *sentence);

/** An argument of a public function: its name in the sentence, and whether it is valid. */
struct gyre_argument {
    const char *name;
    bool given;
};

/** INVALID, with a sentence that names the first argument that is not valid: it is NULL, or its "->size" was not set. OK,
 * without a sentence, when all are valid. The table ends with a NULL name. */
gyre_status gyre_error_arguments(const char *call, const struct gyre_argument *arguments);

/** Calls gyre_error_arguments with a table that is written in place: GYRE_ARGUMENTS("gyre_send", {"queue", queue != NULL}). */
#define GYRE_ARGUMENTS(call, ...)                                                                            \
    gyre_error_arguments((call), (const struct gyre_argument[]){__VA_ARGS__, {NULL, false}})
/** Rows of the table for a descriptor struct: two rows for a descriptor that must not be NULL, one row for a descriptor that
 * may be NULL. */
#define GYRE_SIZED(desc) {#desc, (desc) != NULL}, GYRE_SIZED_OR_NULL(desc)
#define GYRE_SIZED_OR_NULL(desc)                                                                             \
    {                                                                                                        \
#desc "->size", !(desc) || (desc)->size >= sizeof(desc)->size                                        \
    }

/**
 * Called when a wait ended with TIMEOUT. If the deadline had passed long before, adds a sentence that says so; a caller that
 * passes 5000 in place of gyre_in_ms(5000) sees it. Returns `status`.
 */
gyre_status gyre_error_add_overdue(gyre_status status, uint64_t deadline_ns);

/** Adds a frame of context above the existing frames; returns `status`. The innermost (first) frame is never lost. */
gyre_status gyre_error_add(gyre_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Forgets the thread's error, unless it is held. */
void gyre_error_clear(void);

/**
 * Between gyre_error_hold and gyre_error_let_go the thread's error stays as it is, and new errors are discarded. A clean-up
 * after a failure uses this, so that its own errors do not replace the error that made it necessary. May be nested.
 */
void gyre_error_hold(void);
void gyre_error_let_go(void);

/** The status of the thread's error, GYRE_OK when none. */
gyre_status gyre_error_status(void);

/** The whole story as one line, outermost frame first, joined by ": ". Valid until the thread's next call. */
const char *gyre_error_text(void);

/** The innermost sentence alone, without the frames that layers added. Valid until the thread's next call. */
const char *gyre_error_cause(void);

/* The static analyzer sees one file at a time. These macros tell it that the functions return the status they are given. */
#if defined(__clang_analyzer__) && !defined(GYRE_ERROR_DEFINES)
#define gyre_error_set(status, ...)           ((void)(gyre_error_set)((status), __VA_ARGS__), (status))
#define gyre_error_set_text(status, sentence) ((void)(gyre_error_set_text)((status), (sentence)), (status))
#define gyre_error_add(status, ...)           ((void)(gyre_error_add)((status), __VA_ARGS__), (status))
#endif

#endif
