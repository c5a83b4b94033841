/* SPDX-License-Identifier: Apache-2.0 */
/* The same as source. */
#ifndef GYRE_CLI_WIRE_GENERATE_H
#define GYRE_CLI_WIRE_GENERATE_H

#include <stdio.h>

#include "cli/wire/pack.h"

/**
 * Writes functions that do what encode.h and decode.h do, as source for the host and for handlers (include/gyre/wire.h):
 * gyre_encode_T and gyre_decode_T for each of the types, gyre_write_T and gyre_read_T for each record inside
 * them. INVALID when the description does not fit a type; the stream keeps its error for whoever closes it.
 */
gyre_status gyre_pack_generate(const gyre_pack *wire, const gyre_layout *const *layouts, size_t count,
                               FILE *out);

#endif
