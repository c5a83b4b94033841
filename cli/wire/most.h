/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the most bytes that the wire form of a message can have. */
#ifndef GYRE_CLI_WIRE_MOST_H
#define GYRE_CLI_WIRE_MOST_H

#include "cli/wire/pack.h"

/** The most bytes on the wire of any message of this type. The description fits the type (gyre_pack_check). */
uint64_t gyre_pack_most(const gyre_pack *wire, const gyre_layout *layout);

#endif
