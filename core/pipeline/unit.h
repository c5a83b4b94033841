/* SPDX-License-Identifier: Apache-2.0 */
/* The translation unit that a backend compiles. */
#ifndef GYRE_CORE_PIPELINE_UNIT_H
#define GYRE_CORE_PIPELINE_UNIT_H

#include "core/pipeline/source.h"

/**
 * The translation unit for a source: the same text for every backend, because each dialect's header defines
 * what the end of a unit needs. NULL without memory; the caller frees it.
 */
char *gyre_unit_text(const struct gyre_source *source);

#endif
