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

#include "gyre/status.h"

/** Starts a new error with one frame; returns `status`, so that callers can `return gyre_error_set(...)`. */
gyre_status gyre_error_set(gyre_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same with a sentence that is ready:
 * for a poll that finds nothing, which formatting would make slow. */
gyre_status gyre_error_set_text(gyre_status status, const char *sentence);

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
