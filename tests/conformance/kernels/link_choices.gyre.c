/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that sends messages of three types, by a port each, and one that takes all of them. */
#include <gyre/kernel.h>

#include "link_choices.h"

#define SHIP_PORTS(PORT) PORT(ping, pings, 1) PORT(memo, memos, 1) PORT(sheet, sheets, 1)
GYRE_PORTS(ship_ports, SHIP_PORTS)

GYRE_KERNEL_TO(ship, shipment, gyre_none, ship_ports)
{
    if (request->what == 1) {
        gyre_emit(gyre, pings)->number = (u32)request->number;
    } else if (request->what == 2) {
        GYRE_GLOBAL memo *out = gyre_emit(gyre, memos);
        out->number = request->number;
        out->text = gyre_new(gyre, u8, out, request->length);
        for (u32 i = 0; i < out->text.count; i++)
            gyre_set(gyre, u8, out, out->text, i, (u8)SIGHT_LETTER(request->number, i));
    } else {
        GYRE_GLOBAL sheet *out = gyre_emit(gyre, sheets);
        out->number = request->number;
        for (u32 i = 0; i < SHEET_WORDS; i++)
            out->w[i] = SIGHT_WORD(request->number, i);
    }
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_OF(booth, BOOTH)

GYRE_HANDLER(booth, ping, sight)
{
    reply->number = request->number;
    reply->sum = 0;
    return GYRE_REPLY;
}

GYRE_HANDLER(booth, memo, sight)
{
    const GYRE_GLOBAL u8 *text = gyre_items(u8, request, request->text);
    reply->number = request->number;
    reply->sum = 0;
    for (u32 i = 0; i < request->text.count; i++)
        reply->sum += text[i];
    return GYRE_REPLY;
}

GYRE_HANDLER(booth, sheet, sight)
{
    reply->number = request->number;
    reply->sum = 0;
    for (u32 i = 0; i < SHEET_WORDS; i++)
        reply->sum += request->w[i];
    return GYRE_REPLY;
}

/* Takes one type. */
GYRE_KERNEL(plain, ping, sight)
{
    reply->number = request->number;
    reply->sum = 0;
    return GYRE_REPLY;
}
