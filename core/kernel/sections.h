/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of the configuration that seem to be for nobody. */
#ifndef GYRE_CORE_KERNEL_SECTIONS_H
#define GYRE_CORE_KERNEL_SECTIONS_H

#include "core/device/runtime.h"
#include "core/pipeline/pipeline.h"

/**
 * A kernel of that name is launched, or a queue or shards opened: where no section is for it, one whose name
 * looks like a mistyped one is told in the log. `build`: the kernels of its file, or NULL.
 */
void gyre_sections_look(gyre_runtime *runtime, enum gyre_section_kind kind, const char *name,
                        const struct gyre_build *build);

#endif
