/* SPDX-License-Identifier: Apache-2.0 */
/* A folder, a configuration and an opened CPU device for each case. */
#ifndef GYRE_TESTS_UNIT_PIPELINE_WORLD_H
#define GYRE_TESTS_UNIT_PIPELINE_WORLD_H

#include <limits.h>

#include "core/config/config.h"
#include "core/cache/artifact.h"
#include "core/dispatch/dispatch.h"
#include "core/pipeline/pipeline.h"
#include "unit/unit.h"

struct world {
    char folder[PATH_MAX / 2];
    struct gyre_config *config;
    struct gyre_dispatch *device;
    struct gyre_build_report report;
    struct gyre_build *build;
};

/** `settings` of [gyre] beside the cache folder, and parameters of the backend; both may be NULL. */
void world_open(struct world *world, const char *setting, const char *compiler, const char *options);
void world_close(struct world *world);
/** Writes a file of the folder and returns its path (until the next call). */
const char *world_file(const struct world *world, const char *name, const char *text);
/** Runs the pipeline; the build of the run before is released. */
gyre_status world_run(struct world *world, const char *source, const char *output);
/** Runs it on a kernel file of this text. */
gyre_status world_run_text(struct world *world, const char *text);
/** Fails the case unless the error's text contains `part`. */
void expect_text(const char *part);

TCase *compile_cases(void);

extern const char good_kernel[];

#endif
