/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a build (build.h) from a compiled file: loads its module and verifies it (build.c). Only the pipeline calls
 * this.
 */
#ifndef GYRE_CORE_PIPELINE_LOADING_H
#define GYRE_CORE_PIPELINE_LOADING_H

#include "core/cache/artifact.h"
#include "core/dispatch/dispatch.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/source.h"

enum { GYRE_OPTIONS_SIZE = 2048 };

struct gyre_build {
    uint32_t owners; /* see gyre_build_retain */
    struct gyre_dispatch *device;
    gyre_module *module;
    gyre_kernel_record *records;
    size_t count, migrations; /* records of kernels, and of migrations behind them */
    char kernel[GYRE_KERNEL_NAME_SIZE];
    char file[PATH_MAX];
    char *text;                      /* of the source; NULL: the file is an artifact */
    uint64_t handler;                /* see gyre_build_handler; 0: unknown */
    bool compiled_before;            /* the file is an artifact: it was compiled with `options` */
    char options[GYRE_OPTIONS_SIZE]; /* the kernel's options, as the artifact notes them */
    struct gyre_build_report report;
};

gyre_status gyre_build_create(struct gyre_dispatch *device, const struct gyre_source *source,
                              struct gyre_build **out);
/** Stage load: loads the artifact at `path` as the build's module. */
gyre_status gyre_build_load(struct gyre_build *build, const char *path, const struct gyre_artifact *artifact);
/** Stage verify: checks the kernels' records, and writes the line of the report to `text`. */
gyre_status gyre_build_verify(const struct gyre_build *build, char *text, size_t size);

#endif
