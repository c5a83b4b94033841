/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the pipeline: what it works with, and the lines of its report. */
#ifndef GYRE_CORE_PIPELINE_RUN_H
#define GYRE_CORE_PIPELINE_RUN_H

#include "core/cache/cache.h"
#include "core/pipeline/check.h"
#include "core/pipeline/loading.h"
#include "core/pipeline/settings.h"
#include "core/pipeline/source.h"
#include "core/pipeline/workspace.h"

struct gyre_run {
    const struct gyre_pipeline_desc *desc;
    struct gyre_pipeline_settings settings;
    const char *headers;
    char options[GYRE_OPTIONS_SIZE]; /* of the backend and of the kernel */
    struct gyre_source source;
    uint64_t handler; /* the hash of the source, or of the source that the artifact was made of; 0: unknown */
    struct gyre_cache cache;
    char key[GYRE_CACHE_KEY_SIZE];
    bool checked;            /* gyre-check is to judge it: part of the key */
    struct timespec started; /* CLOCK_REALTIME, before the compiler runs */
    struct gyre_workspace workspace;
    struct gyre_check check;
    struct gyre_artifact artifact;
    struct gyre_build *build;
    struct gyre_pipeline_report report;
    char artifact_path[PATH_MAX]; /* what is loaded */
};

/** Fills a line of the report. */
void gyre_run_tell(struct gyre_run *run, enum gyre_stage stage, enum gyre_stage_state state,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/** Called at the end of a stage that can fail, with its start; returns `status`, with a frame that names the
 * stage. */
gyre_status gyre_run_settle(struct gyre_run *run, enum gyre_stage stage, uint64_t start, gyre_status status);

/* ---- option_blame.c ---- */

/**
 * The compiler failed: where its sentence is about an option of a setting, puts in front which, and returns CONFIG;
 * else `status`.
 */
gyre_status gyre_run_blame_options(const struct gyre_run *run, gyre_status status);

/* ---- kept.c: what comes from files compiled before, and what goes there ---- */

/** Opens the cache and makes the key. */
void gyre_run_open_cache(struct gyre_run *run);
/** Takes the artifact from the cache; false when it is not there. */
bool gyre_run_find(struct gyre_run *run);
/** Puts what was compiled into the cache, and takes it from there on. */
void gyre_run_keep(struct gyre_run *run);
/** The source is an artifact: opens it and compares what it says with the device. */
gyre_status gyre_run_take_artifact(struct gyre_run *run);
/** Refuses an output that would be written over its own source. */
gyre_status gyre_run_check_output(const struct gyre_run *run);
/** Writes the artifact that the caller asked for. */
gyre_status gyre_run_write_output(struct gyre_run *run);

#endif
