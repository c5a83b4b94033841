/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the wire form of a message (pack.h) to the message. */
#ifndef GYRE_CLI_WIRE_DECODE_H
#define GYRE_CLI_WIRE_DECODE_H

#include "cli/wire/pack.h"

/**
 * Reads a message of layout->size bytes, at any alignment, from exactly `length` bytes. INVALID with the
 * offset, the field and the reason; `message` is unspecified then.
 */
gyre_status gyre_pack_decode(const gyre_pack *wire, const gyre_layout *layout, const uint8_t *bytes,
                             size_t length, void *message);

#endif
