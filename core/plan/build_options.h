/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the configuration how a kernel is built: its name, its source file, its backend, the compiler's options. The
 * compilation itself is in core/pipeline. No state. */
#ifndef GYRE_CORE_PLAN_BUILD_OPTIONS_H
#define GYRE_CORE_PLAN_BUILD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/config/config.h"

enum { GYRE_KERNEL_NAME_MAX = 64, GYRE_KERNEL_OPTIONS_SIZE = 4096 };

/** Guesses the name of a kernel, which selects its section [kernel.NAME], before its file is compiled: the word behind the
 * colon of `source`, else the name of the only kernel that the text of the file declares, else the name of the file. */
void gyre_kernel_guess_name(const char *source, char *name, size_t size);
/** The source file of the kernel `name`, from the section [kernel.NAME]. The configuration owns the text. INVALID when the
 * section has no source. */
gyre_status gyre_kernel_source(const struct gyre_config *config, const char *name, const char **source);
/** The backend that the kernel `name` is launched on: `given`, or, when that is NULL, the backend of its section. "": the
 * section names none, and the backend of [gyre] applies. */
const char *gyre_kernel_backend(const struct gyre_config *config, const char *name, const char *given);
/** What the compiler is told of a kernel that is to be a stage of a pipeline. */
#define GYRE_KERNEL_STAGE_OPTION " -DGYRE_STAGE=1"
/** And, behind that, of one whose pipeline limits flows by a window or a quota, or that sends to topics or outlets, which programs hear. */
#define GYRE_KERNEL_LIMITS_OPTION " -DGYRE_LIMITED=1"
/** And, behind that, of one in whose pipeline kernels ask. */
#define GYRE_KERNEL_ASKS_OPTION " -DGYRE_ASKS=1"
/** Whether the source of a kernel that is configured has ports that ask. A file that cannot be read has none: its launch says why. */
bool gyre_kernels_ask(const struct gyre_config *config);
/** And, behind these, of one that is a member of a pool. */
#define GYRE_KERNEL_POOLS_OPTION " -DGYRE_POOLS=1"
/** And of one whose pipeline has rounds. */
#define GYRE_KERNEL_ROUNDS_OPTION " -DGYRE_ROUNDS=1"
/** And of one to which links with levels lead. */
#define GYRE_KERNEL_LEVELS_OPTION " -DGYRE_LEVELS=1"
/** And of one that takes several types, to one of which a link leads. */
#define GYRE_KERNEL_CHOICES_OPTION " -DGYRE_CHOICES=1"

/** Writes the options that a launch of the kernel `name` gives the compiler: the options of its section, and the options
 * that its other settings, the settings of all queues, and pipelines need. */
void gyre_kernel_options(const struct gyre_config *config, const char *name, char *text, size_t size);
/** Whether gyre_kernel_options writes the same for the kernels `one` and `other`. */
bool gyre_kernel_same_options(const struct gyre_config *config, const char *one, const char *other);

#endif
