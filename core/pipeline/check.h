/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a kernel's source against the rules of the dialect, by running the program gyre-check (check.c). */
#ifndef GYRE_CORE_PIPELINE_CHECK_H
#define GYRE_CORE_PIPELINE_CHECK_H

#include <pthread.h>

#include "core/pipeline/pipeline.h"
#include "core/pipeline/source.h"

enum gyre_check_verdict {
    GYRE_CHECK_PASSED,
    GYRE_CHECK_REFUSED,    /* a rule of the dialect is broken, no kernel, two of one name */
    GYRE_CHECK_UNPARSED,   /* the checker's parser met an error that a compiler will report as well */
    GYRE_CHECK_UNAVAILABLE /* the checker is not installed, or did not finish its work */
};

/** One run of gyre-check in a thread of its own. */
struct gyre_check {
    const struct gyre_source *source;
    const char *headers;
    const char *compiler_options, *options; /* the compiler's options, in the order of its command; the check
                                               uses the options for the preprocessor */
    const char *portless;                   /* the backend, if its kernels have no ports; else NULL */
    const char
        *wordless; /* the backend, if it has not the words GYRE_MORE, gyre_turn and GYRE_FLOW; else NULL */
    const char *askless;   /* the backend, if its kernels do not ask each other; else NULL */
    const char *roundless; /* the backend, if its pipelines have no rounds; else NULL */
    uint64_t lane_stack;   /* bytes of a lane's stack; 0: not known */
    uint64_t deadline_ns;
    bool running;
    pthread_t thread;
    /* the result: */
    enum gyre_check_verdict verdict;
    enum gyre_stage stage; /* the stage that a refusal belongs to: discover or check */
    gyre_status status;    /* the error of any verdict except PASSED */
    uint32_t kernel_count;
    uint64_t duration_ns;
    char sentence[1024];
    char messages[4096];
};

/** Writes the path of the program gyre-check. False when the program is not installed there. */
bool gyre_check_installed(char path[PATH_MAX]);
/** Starts the check in a thread. When no thread can be had, does the whole check before it returns. */
void gyre_check_start(struct gyre_check *check);
/** Waits for the check's result. May be called more than once. */
void gyre_check_join(struct gyre_check *check);
/** Reads the report that gyre-check wrote, and fills in the result. Accepts any text. */
void gyre_check_read(struct gyre_check *check, char *text);

#endif
