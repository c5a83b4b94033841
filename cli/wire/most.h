/* SPDX-License-Identifier: Apache-2.0 */
/* How long the wire form gets. */
#ifndef GYRE_CLI_WIRE_MOST_H
#define GYRE_CLI_WIRE_MOST_H

#include "cli/wire/pack.h"

/** Bytes on the wire that no message of this type goes beyond. The description fits the type. */
uint64_t gyre_pack_most(const gyre_pack *wire, const gyre_layout *layout);

#endif
