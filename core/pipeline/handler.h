/* SPDX-License-Identifier: Apache-2.0 */
/* The hash that handlers are known by. */
#ifndef GYRE_CORE_PIPELINE_HANDLER_H
#define GYRE_CORE_PIPELINE_HANDLER_H

#include <stdint.h>

#include "core/pipeline/source.h"

/**
 * What the handlers of a source are known by, whichever backend compiles them: see gyre_build_handler. `headers`:
 * Gyre's own; `options`: all of the compiler's.
 */
uint64_t gyre_handler_hash(const struct gyre_source *source, const char *headers, const char *options);

#endif
