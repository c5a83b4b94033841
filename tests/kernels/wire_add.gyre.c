/* SPDX-License-Identifier: Apache-2.0 */
/* VectorAdd in its wire form: bytes in, bytes out, as the producers before Gyre send and expect them. */
#include <gyre/kernel.h>
#include "wire_add.h"
#include "wire_add_wire.h"

#define PACKET(FIELD) FIELD(span_u8, bytes)
GYRE_MESSAGE_TAIL(packet, PACKET, 240)

/* Both messages are built in the reply's tail, behind its bytes, and cut off at the end. */
GYRE_KERNEL(wire_add, packet, packet)
{
    gyre_wire_in in = {0};
    gyre_wire_out out = {0};
    reply->bytes = gyre_new(gyre, u8, reply, 38);
    const gyre_part asked = gyre_new(gyre, add_request, reply, 1);
    const gyre_part answered = gyre_new(gyre, add_reply, reply, 1);
    GYRE_GLOBAL add_request *question = gyre_writable(add_request, reply, asked);
    GYRE_GLOBAL add_reply *answer = gyre_writable(add_reply, reply, answered);

    in.bytes = gyre_items(u8, request, request->bytes);
    in.length = request->bytes.count;
    if (!gyre_decode_add_request(&in, question))
        return gyre_fail(gyre, (i32)in.at, in.problem);

    gyre_begin(answer);
    answer->id = question->id;
    answer->priority = question->priority;
    answer->correlation = gyre_copy(gyre, id128, answer, question, question->correlation);
    answer->result = question->a + question->b;

    out.bytes = gyre_writable(u8, reply, reply->bytes);
    out.room = reply->bytes.count;
    const u32 length = gyre_encode_add_reply(&out, answer);
    gyre_cut(gyre, u8, reply, reply->bytes, length);
    return GYRE_REPLY;
}
