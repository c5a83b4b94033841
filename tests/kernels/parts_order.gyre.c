/* SPDX-License-Identifier: Apache-2.0 */
/* Records within records: adds an order up and gives its lines back in reverse, each with its notes. */
#include <gyre/kernel.h>
#include "parts_order.h"

GYRE_HELPER u32 address_bytes(const GYRE_GLOBAL order *request, const GYRE_GLOBAL address *of,
                              gyre_context *gyre)
{
    u32 bytes = of->street.count;
    if (gyre_has(of->door))
        bytes += gyre_get(gyre, utf8, request, of->door, 0).count;
    return bytes;
}

GYRE_KERNEL(parts_order, order, order_checked)
{
    const u32 count = request->lines.count;
    reply->id = request->id;
    reply->address_bytes = address_bytes(request, &request->to, gyre);
    if (gyre_has(request->invoice_to))
        reply->address_bytes +=
            address_bytes(request, gyre_items(address, request, request->invoice_to), gyre);
    reply->address_bytes += request->codes[0].count + request->codes[1].count;
    reply->lines = gyre_new(gyre, order_line, reply, count);
    for (u32 i = 0; i < reply->lines.count; i++) {
        order_line line = gyre_get(gyre, order_line, request, request->lines, count - 1 - i);
        const span_utf8 notes = line.notes;
        f32 price = line.price * (f32)line.pieces;
        if (gyre_has(line.rebate))
            price -= gyre_get(gyre, f32, request, line.rebate, 0);
        reply->total += price;
        line.rebate = gyre_copy(gyre, f32, reply, request, line.rebate);
        line.notes = gyre_new(gyre, utf8, reply, notes.count);
        for (u32 note = 0; note < line.notes.count; note++) {
            const utf8 text = gyre_get(gyre, utf8, request, notes, note);
            gyre_set(gyre, utf8, reply, line.notes, note, gyre_copy(gyre, u8, reply, request, text));
            reply->note_bytes += text.count;
        }
        gyre_set(gyre, order_line, reply, reply->lines, i, line);
    }
    return GYRE_REPLY;
}
