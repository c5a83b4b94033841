/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of generated source, for the files that emit it; nobody else includes it. */
#ifndef GYRE_CLI_WIRE_GENERATOR_H
#define GYRE_CLI_WIRE_GENERATOR_H

#include <stdio.h>

#include "cli/wire/pack.h"

typedef struct generator {
    const gyre_pack *wire;
    FILE *out;
    bool writes; /* to the wire; else from it */
    int indent, depth;
} generator;

/** One line of the text, indented. */
__attribute__((format(printf, 2, 3))) void gyre_pack_line(generator *g, const char *format, ...);

/**
 * Moves the longest row of fields from the `first` on whose sizes on the wire never change, behind one check
 * of the room; returns the field behind them: `first` when there is none.
 */
uint32_t gyre_pack_emit_run(generator *g, const gyre_layout *layout, uint32_t first);

/** "GYRE_WIRE_PADDED_", ...: how include/gyre/wire.h calls it. */
const char *gyre_pack_nullable_text(gyre_pack_nullable nullable);

#endif
