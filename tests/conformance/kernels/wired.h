/* SPDX-License-Identifier: Apache-2.0 */
/* VectorAdd as DotCompute sends it: 42 bytes, and 38 back; wired_wire.h is what gyre wire makes of it. */
#ifndef GYRE_CONFORMANCE_WIRED_H
#define GYRE_CONFORMANCE_WIRED_H

#include <gyre/message.h>

#define WIRED_ADD(FIELD)                                                                                     \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, a) FIELD(f32, b)
GYRE_MESSAGE_TAIL(wired_add, WIRED_ADD, 16)
GYRE_WIRE(wired_add, "form=packed nullable=packed guid=dotnet")
#define WIRED_SUM(FIELD)                                                                                     \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, result)
GYRE_MESSAGE_TAIL(wired_sum, WIRED_SUM, 16)
GYRE_WIRE(wired_sum, "form=packed nullable=packed guid=dotnet")

#endif
