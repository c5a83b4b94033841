/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build: a loaded kernel file with its module, and the kernels and migrations that it declares (build.c).
 * pipeline.h makes one.
 */
#ifndef GYRE_CORE_PIPELINE_BUILD_H
#define GYRE_CORE_PIPELINE_BUILD_H

#include "core/pipeline/pipeline.h"

/** Another owner of the build, who releases it as well. */
struct gyre_build *gyre_build_retain(struct gyre_build *build);

/**
 * Gives one owner's hold up. The last one unloads the module and gives the device back: whoever has a kernel of the build
 * that may still run keeps its hold. Accepts NULL.
 */
void gyre_build_release(struct gyre_build *build);

gyre_module *gyre_build_module(const struct gyre_build *build);
const struct gyre_build_report *gyre_build_report(const struct gyre_build *build);
/** The device that the module is loaded on. */
const struct gyre_dispatch *gyre_build_device(const struct gyre_build *build);

/** Whether the build was loaded from an artifact, which is compiled for one backend. */
bool gyre_build_is_compiled(const struct gyre_build *build);

/** The text that the build was compiled from, as it was read then. NULL: it was loaded from an artifact. */
const char *gyre_build_text(const struct gyre_build *build);

/**
 * Whether the build was loaded from an artifact (a file compiled before) that was compiled without some word of
 * `options`, the options of a kernel in gyre_build_desc. `lacking` gets these words. A build from a source lacks
 * none, because it is compiled with its options.
 */
bool gyre_build_lacks(const struct gyre_build *build, const char *options, char *lacking, size_t size);

/**
 * A hash of everything that the handlers of the file were compiled from: the text of the file and of its author's
 * headers without comments and blanks, and the macros that options define. The hash is the same on every backend. 0:
 * the file was compiled by a Gyre that did not note the hash.
 */
uint64_t gyre_build_handler(const struct gyre_build *build);

/**
 * The number of kernels in the file, and the record of the kernel `index` (NULL past the last), in the order of the
 * file. Records live as long as the build.
 */
size_t gyre_build_count(const struct gyre_build *build);
const gyre_kernel_record *gyre_build_at(const struct gyre_build *build, size_t index);

/**
 * The migrations of the file (GYRE_MIGRATE), which do not count as kernels. A migration is an actor without state. It
 * has two buffers: one value of the old type, and one value of the new type. NULL past the last.
 */
const gyre_kernel_record *gyre_build_migration(const struct gyre_build *build, size_t index);

/**
 * Finds the kernel of that name. `name` NULL: the kernel that the source named, else the file's only kernel.
 * NOT_FOUND with the names in the file and the nearest of them; INVALID when the file has several kernels and none
 * was named.
 */
gyre_status gyre_build_kernel(const struct gyre_build *build, const char *name,
                              const gyre_kernel_record **out);

/** The word for a kernel's form: "lane", "block", "actor", "keyed" or "grid". */
const char *gyre_form_word(gyre_form form);

#endif
