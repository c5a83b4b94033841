/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of generated source. Only generate*.c include it. */
#ifndef GYRE_CLI_WIRE_GENERATOR_H
#define GYRE_CLI_WIRE_GENERATOR_H

#include <stdio.h>

#include "cli/wire/pack.h"

typedef struct generator {
    const gyre_pack *wire;
    FILE *out;
    bool writes; /* true: the generated code encodes; false: it decodes */
    int indent, depth;
} generator;

/** Writes one line of source, indented. */
__attribute__((format(printf, 2, 3))) void gyre_pack_line(generator *g, const char *format, ...);

/**
 * Emits code for the longest row of fields, from field `first` on, whose sizes on the wire never change: one check of the
 * room, then copies. Returns the number of the field behind the row; `first` when the row is empty.
 */
uint32_t gyre_pack_emit_run(generator *g, const gyre_layout *layout, uint32_t first);

/** The name of an option in include/gyre/wire.h, for example "GYRE_WIRE_PADDED_". */
const char *gyre_pack_nullable_text(gyre_pack_nullable nullable);

#endif
