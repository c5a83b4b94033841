/* SPDX-License-Identifier: Apache-2.0 */
/* VectorAdd as DotCompute sends it: 42 bytes on the wire, and 38 back. */
#ifndef GYRE_EXAMPLES_ADD_H
#define GYRE_EXAMPLES_ADD_H

#include <gyre/message.h>

#define ADD_REQUEST(FIELD)                                                                                   \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, a) FIELD(f32, b)
GYRE_MESSAGE_TAIL(add_request, ADD_REQUEST, 16)
GYRE_WIRE(add_request, "form=packed nullable=packed guid=dotnet")

#define ADD_REPLY(FIELD)                                                                                     \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, result)
GYRE_MESSAGE_TAIL(add_reply, ADD_REPLY, 16)
GYRE_WIRE(add_reply, "form=packed nullable=packed guid=dotnet")

#endif
