/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread-local error stack: every status that is not GYRE_OK leaves a sentence here.
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

/** The same with a sentence that is ready:
 * for a poll that finds nothing, which formatting would make slow. */
gyre_status gyre_error_set_text(gyre_status status, const char *sentence);

/** An argument of a public function: what it is called there, and whether it is as it must be. */
struct gyre_argument {
    const char *name;
    bool given;
};

/** INVALID, with a sentence that names the first argument that is NULL, or whose "->size" was not set. The table ends
 * with a NULL name; OK, without a sentence, when nothing is wrong. */
gyre_status gyre_error_arguments(const char *call, const struct gyre_argument *arguments);

/** gyre_error_arguments("gyre_send", {"queue", queue != NULL}, ...) without the table's frame. */
#define GYRE_ARGUMENTS(call, ...)                                                                            \
    gyre_error_arguments((call), (const struct gyre_argument[]){__VA_ARGS__, {NULL, false}})
/** The two rows of a descriptor that must be there, and the row of one that may be NULL. */
#define GYRE_SIZED(desc) {#desc, (desc) != NULL}, GYRE_SIZED_OR_NULL(desc)
#define GYRE_SIZED_OR_NULL(desc)                                                                             \
    {                                                                                                        \
#desc "->size", !(desc) || (desc)->size >= sizeof(desc)->size                                        \
    }

/**
 * For a wait that ended with TIMEOUT: adds that its deadline lay far in the past before it began, where it did, as one of
 * 5000 in place of gyre_in_ms(5000) does. Returns `status`.
 */
gyre_status gyre_error_add_overdue(gyre_status status, uint64_t deadline_ns);

/** Adds context above what is there; returns `status`. The innermost (first) frame is never lost. */
gyre_status gyre_error_add(gyre_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Forgets the thread's error, unless it is held. */
void gyre_error_clear(void);

/**
 * Between hold and let go the thread's error stays as it is; errors set or added are discarded: for cleaning up, so that what a
 * release has to say does not replace why there is something to clean up. May be nested.
 */
void gyre_error_hold(void);
void gyre_error_let_go(void);

/** The status of the thread's error, GYRE_OK when none. */
gyre_status gyre_error_status(void);

/** The whole story as one line, outermost frame first, joined by ": ". Valid until the thread's next call. */
const char *gyre_error_text(void);

/** The innermost sentence alone. Valid until the thread's next call. */
const char *gyre_error_cause(void);

/* The static analyzer looks at one file at a time: tell it that the status that goes in comes out. */
#if defined(__clang_analyzer__) && !defined(GYRE_ERROR_DEFINES)
#define gyre_error_set(status, ...)           ((void)(gyre_error_set)((status), __VA_ARGS__), (status))
#define gyre_error_set_text(status, sentence) ((void)(gyre_error_set_text)((status), (sentence)), (status))
#define gyre_error_add(status, ...)           ((void)(gyre_error_add)((status), __VA_ARGS__), (status))
#endif

#endif
