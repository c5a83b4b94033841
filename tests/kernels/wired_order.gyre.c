/* SPDX-License-Identifier: Apache-2.0 */
/* An order comes from the wire and goes back, copied part by part by the lanes of a block. */
#ifndef GYRE_WIRED
#define GYRE_WIRED 1
#endif
#include <gyre/kernel.h>
#include "wire_order.h"
#include "wire_order_wire.h"

GYRE_HELPER address copied(gyre_context *gyre, GYRE_GLOBAL order *reply, const GYRE_GLOBAL order *request,
                           const GYRE_GLOBAL address *from)
{
    address to = *from;
    to.street = gyre_copy(gyre, u8, reply, request, from->street);
    to.door = gyre_copy(gyre, utf8, reply, request, from->door);
    if (gyre_has(to.door))
        gyre_writable(utf8, reply, to.door)[0] =
            gyre_copy(gyre, u8, reply, request, gyre_items(utf8, request, from->door)[0]);
    return to;
}

/* Lane 0 makes room for every part; the others fill in the numbers of the lines. */
GYRE_BLOCK_KERNEL(wired_order, order, order, gyre_none)
{
    const GYRE_GLOBAL order_line *from = gyre_items(order_line, request, request->lines);
    if (gyre_lane(gyre) == 0) {
        reply->id = request->id;
        reply->to = copied(gyre, reply, request, &request->to);
        reply->invoice_to = gyre_new(gyre, address, reply, request->invoice_to.count);
        if (gyre_has(reply->invoice_to))
            gyre_writable(address, reply, reply->invoice_to)[0] =
                copied(gyre, reply, request, gyre_items(address, request, request->invoice_to));
        reply->lines = gyre_new(gyre, order_line, reply, request->lines.count);
        GYRE_GLOBAL order_line *to = gyre_writable(order_line, reply, reply->lines);
        for (u32 i = 0; i < reply->lines.count; i++) {
            to[i].rebate = gyre_copy(gyre, f32, reply, request, from[i].rebate);
            to[i].notes = gyre_copy(gyre, utf8, reply, request, from[i].notes);
            for (u32 k = 0; k < to[i].notes.count; k++)
                gyre_writable(utf8, reply, to[i].notes)[k] =
                    gyre_copy(gyre, u8, reply, request, gyre_items(utf8, request, from[i].notes)[k]);
        }
    }
    gyre_barrier(gyre);
    GYRE_GLOBAL order_line *to = gyre_writable(order_line, reply, reply->lines);
    for (u32 i = gyre_lane(gyre); i < reply->lines.count; i += gyre_lane_count(gyre)) {
        to[i].article = from[i].article;
        to[i].pieces = from[i].pieces;
        to[i].price = from[i].price;
    }
    return GYRE_REPLY;
}
