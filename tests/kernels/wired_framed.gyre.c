/* SPDX-License-Identifier: Apache-2.0 */
/* The same behind the frame's header of 256 bytes, as an actor that counts what it added. */
#ifndef GYRE_WIRED
#define GYRE_WIRED 2
#endif
#include <gyre/kernel.h>
#include "wire_add.h"
#include "wire_add_wire.h"

#define ADDITIONS(FIELD) FIELD(u64, count)
GYRE_MESSAGE(additions, ADDITIONS)

GYRE_ACTOR(wired_framed, add_request, add_reply, additions)
{
    state->count++;
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlation = gyre_copy(gyre, id128, reply, request, request->correlation);
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
