/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the message types that a file declares, by compiling the file. Launches nothing. */
#ifndef GYRE_CORE_KERNEL_TYPE_SOURCE_H
#define GYRE_CORE_KERNEL_TYPE_SOURCE_H

#include "core/device/runtime.h"

/** A callback that takes one type, borrowed for the call. A status other than OK ends the reading, which returns it. */
typedef gyre_status (*gyre_type_taker)(void *context, const gyre_type *type);

/**
 * Calls `take` for each type of a file: the types that a header declares, or that the kernels of a kernel file or a compiled
 * file use, in the order of their use. A type may come more than once. Logs the compiler's messages. NOT_FOUND, INVALID, and
 * errors of compiling.
 */
gyre_status gyre_type_source_read(gyre_runtime *runtime, const char *backend, const char *file,
                                  gyre_type_taker take, void *context);

#endif
