/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the hash that tells whether a handler's source has changed (handler.c). */
#ifndef GYRE_CORE_PIPELINE_HANDLER_H
#define GYRE_CORE_PIPELINE_HANDLER_H

#include <stdint.h>

#include "core/pipeline/source.h"

/**
 * The hash of the handlers of a source, which is the same for every backend: see gyre_build_handler. `headers`: the
 * folder of Gyre's own headers. `options`: all options of the compiler.
 */
uint64_t gyre_handler_hash(const struct gyre_source *source, const char *headers, const char *options);

#endif
