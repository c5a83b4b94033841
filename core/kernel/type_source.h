/* SPDX-License-Identifier: Apache-2.0 */
/* The message types that a file declares, by compiling it; nothing is launched. */
#ifndef GYRE_CORE_KERNEL_TYPE_SOURCE_H
#define GYRE_CORE_KERNEL_TYPE_SOURCE_H

#include "core/device/runtime.h"

/** Takes one type; borrowed for the call. What it returns ends the reading unless it is OK. */
typedef gyre_status (*gyre_type_taker)(void *context, const gyre_type *type);

/**
 * Hands on the types of a kernel file, a compiled kernel, or a header: those of a header's declarations, or
 * those that the file's kernels use, in order of their use, the same type perhaps more than once. Logs what
 * the compiler said. NOT_FOUND, INVALID, and what compiling returns.
 */
gyre_status gyre_type_source_read(gyre_runtime *runtime, const char *backend, const char *file,
                                  gyre_type_taker take, void *context);

#endif
