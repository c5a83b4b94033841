/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads the file to build: a kernel source, or an artifact, a file compiled before (source.c). */
#ifndef GYRE_CORE_PIPELINE_SOURCE_H
#define GYRE_CORE_PIPELINE_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "gyre/status.h"

enum { GYRE_KERNEL_NAME_SIZE = 64 };

/** The thing to build: a kernel source with its text, or an artifact. */
struct gyre_source {
    char path[PATH_MAX], folder[PATH_MAX]; /* absolute, links resolved */
    char kernel[GYRE_KERNEL_NAME_SIZE];    /* the kernel named behind the file; "": none is named */
    bool is_artifact;
    char *text; /* the text of a source, NUL-terminated, without a byte order mark */
    size_t size;
};

/** Finds and reads the file. The caller calls gyre_source_finish, also after a failure. */
gyre_status gyre_source_read(const char *name, struct gyre_source *source);
void gyre_source_finish(struct gyre_source *source);

/**
 * Part of gyre_source_read, in included.c: refuses a source that includes a device or a pipe, which has no end.
 */
gyre_status gyre_source_check_included(const struct gyre_source *source);

/**
 * Whether the text is a C identifier of ASCII letters, so that "FILE:NAME", sections and variables can name the
 * kernel.
 */
bool gyre_is_kernel_name(const char *text);

#endif
