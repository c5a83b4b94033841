/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an order from the wire, counts its pieces, and writes it again: the same bytes, or why they are no
 * order. */
#include <gyre/kernel.h>
#include "wire_order.h"
#include "wire_order_wire.h"

#define PACKET(FIELD) FIELD(span_u8, bytes)
GYRE_MESSAGE_TAIL(packet, PACKET, 600)
#define COUNTED(FIELD) FIELD(u32, pieces) FIELD(span_u8, bytes)
GYRE_MESSAGE_TAIL(counted, COUNTED, 1400)

GYRE_KERNEL(wire_order, packet, counted)
{
    gyre_wire_in in = {0};
    gyre_wire_out out = {0};
    reply->bytes = gyre_new(gyre, u8, reply, 600);
    const gyre_part asked = gyre_new(gyre, order, reply, 1);
    GYRE_GLOBAL order *question = gyre_writable(order, reply, asked);

    in.bytes = gyre_items(u8, request, request->bytes);
    in.length = request->bytes.count;
    if (!gyre_decode_order(&in, question))
        return gyre_fail(gyre, (i32)in.at, in.problem);
    for (u32 i = 0; i < question->lines.count; i++)
        reply->pieces += gyre_items(order_line, question, question->lines)[i].pieces;

    out.bytes = gyre_writable(u8, reply, reply->bytes);
    out.room = reply->bytes.count;
    const u32 length = gyre_encode_order(&out, question);
    if (length == 0)
        return gyre_fail(gyre, (i32)out.at, out.problem);
    gyre_cut(gyre, u8, reply, reply->bytes, length);
    return GYRE_REPLY;
}
