/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a loaded module from a kernel's source in six stages: discover, check, generate, compile, load, verify
 * (pipeline.c).
 *
 * Each stage has its own errors and its line in the report. The check of the dialect's rules runs in a process of its
 * own (program gyre-check) beside the compiler. It runs before a compiler that may end this process (check_first of
 * gyre_device_info). A refusal of the check is told before the compiler's error. Compiled kernels are kept in the
 * disk cache; a hit skips check, generate and compile. Threads: any, several runs at once. Blocks for the compiler,
 * at most compile_timeout_ms.
 */
#ifndef GYRE_CORE_PIPELINE_PIPELINE_H
#define GYRE_CORE_PIPELINE_PIPELINE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/backend.h"

/** The beginning of a log line with the compiler's warnings about a kernel that compiled. */
#define GYRE_COMPILER_WARNS "the compiler warns: "

/** The error about a kernel with ports: its name, and the backend whose kernels have none (knows_links is 0). */
#define GYRE_PORTS_REFUSED                                                                                          \
    "kernel '%s' has ports, which the backend '%s' does not run yet: choose another backend for it, or declare it " \
    "without ports"

struct gyre_config;
struct gyre_dispatch;

/** A loaded kernel file on one device. */
struct gyre_build;

/** The most bytes of a kernel file, of a file that it includes, and of a header that declares types. */
enum { GYRE_SOURCE_SIZE_MAX = 4 * 1024 * 1024 };

enum gyre_stage {
    GYRE_STAGE_DISCOVER, /* finds and reads the file; its kernels must have different names */
    GYRE_STAGE_CHECK,    /* checks that the file keeps to the rules of the dialect */
    GYRE_STAGE_GENERATE, /* makes the translation unit for the backend */
    GYRE_STAGE_COMPILE,  /* runs the backend's compiler */
    GYRE_STAGE_LOAD,     /* loads the compiled file on the device */
    GYRE_STAGE_VERIFY    /* checks that the compiled kernels match their declarations and fit the device */
};
enum { GYRE_STAGE_COUNT = 6 };

enum gyre_stage_state {
    GYRE_STAGE_NOT_REACHED = 0,
    GYRE_STAGE_DONE,
    GYRE_STAGE_CACHED, /* not run: the stage's result came from the cache, or is part of the given artifact */
    GYRE_STAGE_SKIPPED, /* not run, and `text` says why */
    GYRE_STAGE_FAILED
};

struct gyre_stage_report {
    enum gyre_stage_state state;
    uint64_t duration_ns;
    char text[256]; /* the stage's result, for people; after a failure its sentence, cut */
};

/** The report of one run. Valid after a success and after a failure. */
struct gyre_build_report {
    struct gyre_stage_report stages[GYRE_STAGE_COUNT]; /* indexed by gyre_stage */
    bool cache_hit;
    char file[PATH_MAX];     /* source or artifact, absolute; "" when it was not found */
    char artifact[PATH_MAX]; /* the compiled file in the cache or at the output path; "" when it is kept
                                nowhere */
    char warning[512];   /* for the application's log, e.g. that the cache cannot be written; "" when none */
    char messages[8192]; /* the compiler's and the checker's own words: warnings, further errors; cut */
};

struct gyre_build_desc {
    const struct gyre_config
        *config;                  /* NULL: no cache, check if a checker is installed, a minute to compile */
    struct gyre_dispatch *device; /* the build keeps a reference */
    const char *source; /* "FILE.gyre.c", "FILE.gyre.c:KERNEL", or a file that `gyre compile -o` wrote */
    /* absolute path of the file that `source` was made from: the cache lists it by this path; NULL: `source` itself */
    const char *written_for;
    const char *options; /* further compiler options of this kernel; NULL: none */
    /* the kernel's name in the configuration, for errors that blame its `options`; NULL: they are not configured */
    const char *configured;
    const char *output; /* where to write an artifact that runs without a compiler; NULL: nowhere */
    /* called with `context` before `output` is written; false: the output stays as it is; NULL: always write it */
    bool (*output_fits)(void *context, const struct gyre_build *build);
    void *context;
    struct gyre_build_report *report; /* NULL, or filled in after success and failure */
    const struct gyre_canary_unit
        *canary; /* the handler that `source` is tried beside (canary_unit.h); NULL: none */
};

/**
 * Runs all stages. NOT_FOUND, INVALID or FAILED when the source is missing, breaks the dialect or does not
 * compile; UNAVAILABLE without a compiler; TIMEOUT when the compiler hangs; INCOMPATIBLE for artifacts of
 * another backend, machine or version. Owner of *out: the caller, until gyre_build_release.
 */
gyre_status gyre_build_run(const struct gyre_build_desc *desc, struct gyre_build **out);

/**
 * The folder that holds gyre/kernel.h. NULL, with a sentence, when there is none. The text lives as long as the
 * process.
 */
const char *gyre_build_headers(void);

/** The word for a stage: "discover", "check", ... */
const char *gyre_stage_word(enum gyre_stage stage);
/** The word for the state of a stage: "done", "cached", "skipped", "failed" or "not reached". */
const char *gyre_stage_state_word(enum gyre_stage_state state);

#endif
