/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a message to its wire form (pack.h). */
#ifndef GYRE_CLI_WIRE_ENCODE_H
#define GYRE_CLI_WIRE_ENCODE_H

#include "cli/wire/pack.h"

/**
 * Writes the wire form of a message to at most `room` bytes. The caller has checked the message (gyre_layout_check_message)
 * and the description (gyre_pack_check). INVALID when the room does not suffice or a text is no UTF-8.
 */
gyre_status gyre_pack_encode(const gyre_pack *wire, const gyre_layout *layout, const void *message,
                             uint8_t *bytes, size_t room, size_t *length);

#endif
