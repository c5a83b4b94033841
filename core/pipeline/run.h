/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of one run of the pipeline, shared by pipeline.c, report.c, option_blame.c and kept.c. */
#ifndef GYRE_CORE_PIPELINE_RUN_H
#define GYRE_CORE_PIPELINE_RUN_H

#include "core/cache/cache.h"
#include "core/pipeline/check.h"
#include "core/pipeline/loading.h"
#include "core/pipeline/settings.h"
#include "core/pipeline/source.h"
#include "core/pipeline/workspace.h"

struct gyre_run {
    const struct gyre_build_desc *desc;
    struct gyre_build_settings settings;
    const char *headers;
    char options[GYRE_OPTIONS_SIZE]; /* compiler options of the backend and of the kernel */
    struct gyre_source source;
    uint64_t handler; /* the hash of the source, or that of the artifact's source; 0: unknown */
    struct gyre_cache cache;
    char key[GYRE_CACHE_KEY_SIZE];
    bool checked;            /* gyre-check judges the source; part of the cache's key */
    struct timespec started; /* CLOCK_REALTIME before the compiler runs */
    struct gyre_workspace workspace;
    struct gyre_check check;
    struct gyre_artifact artifact;
    struct gyre_build *build;
    struct gyre_build_report report;
    char artifact_path[PATH_MAX]; /* the file that is loaded */
};

/** Fills a line of the report. */
void gyre_run_tell(struct gyre_run *run, enum gyre_stage stage, enum gyre_stage_state state,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/**
 * Ends a stage that can fail. `start`: when the stage began. Returns `status`, with the stage's name on the error
 * stack.
 */
gyre_status gyre_run_settle(struct gyre_run *run, enum gyre_stage stage, uint64_t start, gyre_status status);

/* ---- option_blame.c ---- */

/**
 * Call when the compiler failed. If the compiler's sentence is about an option from a setting, names this setting in
 * the error and returns CONFIG; else returns `status`.
 */
gyre_status gyre_run_blame_options(const struct gyre_run *run, gyre_status status);

/* ---- kept.c: artifacts from the cache or from a file, and artifacts that are written ---- */

/** Opens the cache and makes the cache's key of this run. */
void gyre_run_open_cache(struct gyre_run *run);
/** Takes the artifact from the cache. False when the cache does not have it. */
bool gyre_run_find(struct gyre_run *run);
/** Puts the compiled artifact into the cache, and loads it from there. */
void gyre_run_keep(struct gyre_run *run);
/** Opens a source that is an artifact, and checks its note against the device. */
gyre_status gyre_run_take_artifact(struct gyre_run *run);
/** Refuses an output that would be written over its own source. */
gyre_status gyre_run_check_output(const struct gyre_run *run);
/** Writes the artifact that the caller asked for. */
gyre_status gyre_run_write_output(struct gyre_run *run);

#endif
