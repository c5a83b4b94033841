/* SPDX-License-Identifier: Apache-2.0 */
/* Generates C source that encodes and decodes messages, for `gyre wire`. */
#ifndef GYRE_CLI_WIRE_GENERATE_H
#define GYRE_CLI_WIRE_GENERATE_H

#include <stdio.h>

#include "cli/wire/pack.h"

/**
 * Writes source for the host and for handlers (include/gyre/wire.h), with functions that do what encode.h and decode.h do:
 * gyre_encode_T and gyre_decode_T for each type, gyre_write_T and gyre_read_T for each record inside a type. INVALID
 * when the description does not fit a type. A write error stays in the stream, for the caller that closes it.
 */
gyre_status gyre_pack_generate(const gyre_pack *wire, const gyre_layout *const *layouts, size_t count,
                               FILE *out);

#endif
