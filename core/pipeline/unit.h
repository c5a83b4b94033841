/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the translation unit that a backend compiles (unit.c). */
#ifndef GYRE_CORE_PIPELINE_UNIT_H
#define GYRE_CORE_PIPELINE_UNIT_H

#include <stdio.h>

#include "core/pipeline/source.h"

/**
 * The text of the translation unit for a source. The text is the same for every backend, because each backend's
 * header of the dialect defines what the end of a unit needs. NULL without memory. The caller frees it.
 */
char *gyre_unit_text(const struct gyre_source *source);
/** Writes a path as a C string literal. */
void gyre_unit_quote(FILE *out, const char *path);

#endif
