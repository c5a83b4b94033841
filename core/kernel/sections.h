/* SPDX-License-Identifier: Apache-2.0 */
/* Tells of sections of the configuration whose names look mistyped. */
#ifndef GYRE_CORE_KERNEL_SECTIONS_H
#define GYRE_CORE_KERNEL_SECTIONS_H

#include "core/device/runtime.h"
#include "core/pipeline/pipeline.h"

/**
 * Call when a kernel of that name is launched, or a queue or shards of that name are opened. If the configuration has no
 * section for the name, and has an unused section with a similar name, a warning names both. CONFIG, with a sentence, in place
 * of the warning when that section asks for a journal: the queue's messages would not be durable, and nobody would notice before
 * they are lost. `build`: the kernels of the file, or NULL.
 */
gyre_status gyre_sections_look(gyre_runtime *runtime, enum gyre_section_kind kind, const char *name,
                               const struct gyre_build *build);

/** Adds the place of the kernel's source to the error about it. Returns CONFIG. */
gyre_status gyre_sections_blame_source(const gyre_kernel *kernel);

#endif
