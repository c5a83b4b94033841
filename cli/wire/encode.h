/* SPDX-License-Identifier: Apache-2.0 */
/* From a message to its wire form. */
#ifndef GYRE_CLI_WIRE_ENCODE_H
#define GYRE_CLI_WIRE_ENCODE_H

#include "cli/wire/pack.h"

/**
 * Writes a message, which was checked (gyre_layout_check_message), to at most `room` bytes. INVALID when
 * these do not suffice or a text is no UTF-8. The description fits the type.
 */
gyre_status gyre_pack_encode(const gyre_pack *wire, const gyre_layout *layout, const void *message,
                             uint8_t *bytes, size_t room, size_t *length);

#endif
