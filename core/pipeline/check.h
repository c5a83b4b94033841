/* SPDX-License-Identifier: Apache-2.0 */
/* The check of the rules of the dialect, by the program gyre-check. */
#ifndef GYRE_CORE_PIPELINE_CHECK_H
#define GYRE_CORE_PIPELINE_CHECK_H

#include <pthread.h>

#include "core/pipeline/pipeline.h"
#include "core/pipeline/source.h"

enum gyre_check_verdict {
    GYRE_CHECK_PASSED,
    GYRE_CHECK_REFUSED,    /* a rule of the dialect is broken, no kernel, two of one name */
    GYRE_CHECK_UNPARSED,   /* the parser met an error that a compiler will report as well */
    GYRE_CHECK_UNAVAILABLE /* no checker, or it did not do its work */
};

/** One run of gyre-check in a thread of its own. */
struct gyre_check {
    const struct gyre_source *source;
    const char *headers;
    const char *compiler_options, *options; /* the compiler's, in the order of its command: those of the
                                               preprocessor are the check's too */
    uint64_t lane_stack;                    /* 0: not known */
    uint64_t deadline_ns;
    bool running;
    pthread_t thread;
    /* the result: */
    enum gyre_check_verdict verdict;
    enum gyre_stage stage; /* to which a refusal belongs: discover or check */
    gyre_status status;    /* of everything but PASSED */
    uint32_t kernel_count;
    uint64_t duration_ns;
    char sentence[1024];
    char messages[4096];
};

/** Writes the path where the helper program is, or should be. False when it is not installed. */
bool gyre_check_installed(char path[PATH_MAX]);
/** Starts the check; when no thread can be had, it is done at once. */
void gyre_check_start(struct gyre_check *check);
/** Waits for the result. May be called again. */
void gyre_check_join(struct gyre_check *check);
/** Reads what gyre-check wrote into the result. For any text. */
void gyre_check_read(struct gyre_check *check, char *text);

#endif
