/* SPDX-License-Identifier: Apache-2.0 */
/* Written by `gyre wire` from wire_order.h: its messages in the wire form of MemoryPack. */
#ifndef GYRE_WIRE_OF_WIRE_ORDER_H
#define GYRE_WIRE_OF_WIRE_ORDER_H

/* clang-format off */
#include <gyre/wire.h>

GYRE_HELPER void gyre_write_address(gyre_wire_out *out, const GYRE_GLOBAL address *value)
{
    gyre_wire_put_u8_(out, 3);
    gyre_wire_put_text_(out, *(&value->street), 0);
    if (gyre_wire_fits_(out, 2)) {
        GYRE_GLOBAL gyre_u8 *to = out->bytes + out->at;
        GYRE_WIRE_COPY_(to + 0, (const GYRE_GLOBAL gyre_u8 *)&value->number, 2);
        out->at += 2;
    }
    {
        const gyre_part part0 = *(&value->door);
        if (gyre_has(part0)) {
            gyre_wire_put_text_(out, *((const GYRE_GLOBAL utf8 *)(const GYRE_GLOBAL void *)(out->message + part0.offset + 0 * 8u)), 0);
        } else {
            gyre_wire_put_i32_(out, -1);
        }
    }
}

GYRE_HELPER void gyre_read_address(gyre_wire_in *in, GYRE_GLOBAL address *value)
{
    gyre_wire_get_members_(in, 3);
    *(&value->street) = gyre_wire_get_text_(in);
    if (gyre_wire_has_(in, 2)) {
        const GYRE_GLOBAL gyre_u8 *from = in->bytes + in->at;
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->number, from + 0, 2);
        in->at += in->problem ? 0 : 2;
    }
    {
        const int there0 = gyre_wire_get_null_(in, 4);
        const gyre_part part0 = gyre_wire_new_(in, 8u, there0 ? 1 : 0);
        *(&value->door) = part0;
        if (gyre_has(part0)) {
            *((GYRE_GLOBAL utf8 *)(GYRE_GLOBAL void *)(in->message + part0.offset + 0 * 8u)) = gyre_wire_get_text_(in);
        }
    }
}

GYRE_HELPER void gyre_write_order_line(gyre_wire_out *out, const GYRE_GLOBAL order_line *value)
{
    if (gyre_wire_fits_(out, 21)) {
        GYRE_GLOBAL gyre_u8 *to = out->bytes + out->at;
        GYRE_WIRE_COPY_(to + 0, (const GYRE_GLOBAL gyre_u8 *)&value->article, 8);
        GYRE_WIRE_COPY_(to + 8, (const GYRE_GLOBAL gyre_u8 *)&value->pieces, 4);
        GYRE_WIRE_COPY_(to + 12, (const GYRE_GLOBAL gyre_u8 *)&value->price, 4);
        {
            const gyre_part part = value->rebate;
            to[16] = gyre_has(part);
            if (gyre_has(part))
                GYRE_WIRE_COPY_(to + 17, (const GYRE_GLOBAL gyre_u8 *)(out->message + part.offset), 4);
            else
                GYRE_WIRE_ZERO_(to + 17, 4);
        }
        out->at += 21;
    }
    {
        const gyre_part part0 = *(&value->notes);
        gyre_wire_put_count_(out, part0);
        for (gyre_u32 i0 = 0; !out->problem && i0 < part0.count; i0++) {
            gyre_wire_put_text_(out, *((const GYRE_GLOBAL utf8 *)(const GYRE_GLOBAL void *)(out->message + part0.offset + i0 * 8u)), 1);
        }
    }
}

GYRE_HELPER void gyre_read_order_line(gyre_wire_in *in, GYRE_GLOBAL order_line *value)
{
    if (gyre_wire_has_(in, 21)) {
        const GYRE_GLOBAL gyre_u8 *from = in->bytes + in->at;
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->article, from + 0, 8);
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->pieces, from + 8, 4);
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->price, from + 12, 4);
        {
            const gyre_part part = gyre_wire_get_optional_(in, from, 16, GYRE_WIRE_PACKED_, 3, 4, 4);
            value->rebate = part;
            if (gyre_has(part))
                GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)(in->message + part.offset), from + 17, 4);
        }
        in->at += in->problem ? 0 : 21;
    }
    {
        const gyre_part part0 = gyre_wire_get_span_(in, 8u);
        *(&value->notes) = part0;
        for (gyre_u32 i0 = 0; !in->problem && i0 < part0.count; i0++) {
            *((GYRE_GLOBAL utf8 *)(GYRE_GLOBAL void *)(in->message + part0.offset + i0 * 8u)) = gyre_wire_get_text_(in);
        }
    }
}

GYRE_HELPER void gyre_write_order(gyre_wire_out *out, const GYRE_GLOBAL order *value)
{
    gyre_wire_put_u8_(out, 4);
    {
        const gyre_part part0 = *(&value->lines);
        gyre_wire_put_count_(out, part0);
        for (gyre_u32 i0 = 0; !out->problem && i0 < part0.count; i0++) {
            gyre_write_order_line(out, (const GYRE_GLOBAL order_line *)(const GYRE_GLOBAL void *)(out->message + part0.offset + i0 * 32u));
        }
    }
    if (gyre_wire_fits_(out, 16)) {
        GYRE_GLOBAL gyre_u8 *to = out->bytes + out->at;
        gyre_wire_move_id128_(to + 0, (const GYRE_GLOBAL gyre_u8 *)&value->id, 1);
        out->at += 16;
    }
    {
        const gyre_part part0 = *(&value->invoice_to);
        if (gyre_has(part0)) {
            gyre_write_address(out, (const GYRE_GLOBAL address *)(const GYRE_GLOBAL void *)(out->message + part0.offset + 0 * 20u));
        } else {
            gyre_wire_put_u8_(out, 255);
        }
    }
    gyre_write_address(out, &value->to);
}

GYRE_HELPER void gyre_read_order(gyre_wire_in *in, GYRE_GLOBAL order *value)
{
    gyre_wire_get_members_(in, 4);
    {
        const gyre_part part0 = gyre_wire_get_span_(in, 32u);
        *(&value->lines) = part0;
        for (gyre_u32 i0 = 0; !in->problem && i0 < part0.count; i0++) {
            gyre_read_order_line(in, (GYRE_GLOBAL order_line *)(GYRE_GLOBAL void *)(in->message + part0.offset + i0 * 32u));
        }
    }
    if (gyre_wire_has_(in, 16)) {
        const GYRE_GLOBAL gyre_u8 *from = in->bytes + in->at;
        gyre_wire_move_id128_((GYRE_GLOBAL gyre_u8 *)&value->id, from + 0, 1);
        in->at += in->problem ? 0 : 16;
    }
    {
        const int there0 = gyre_wire_get_null_(in, 1);
        const gyre_part part0 = gyre_wire_new_(in, 20u, there0 ? 1 : 0);
        *(&value->invoice_to) = part0;
        if (gyre_has(part0)) {
            gyre_read_address(in, (GYRE_GLOBAL address *)(GYRE_GLOBAL void *)(in->message + part0.offset + 0 * 20u));
        }
    }
    gyre_read_address(in, &value->to);
}

/* Bytes on the wire, at most. */
#define GYRE_WIRE_MOST_order 1259

/* Writes `message`; returns the number of bytes, or 0 and out->problem. */
GYRE_HELPER gyre_u32 gyre_encode_order(gyre_wire_out *out, const GYRE_GLOBAL order *message)
{
    gyre_wire_start_(out, (const GYRE_GLOBAL gyre_u8 *)message);
    gyre_write_order(out, message);
    return out->problem ? 0 : out->at;
}

/* Reads `message`; returns 1, or 0 and in->problem at byte in->at. */
GYRE_HELPER int gyre_decode_order(gyre_wire_in *in, GYRE_GLOBAL order *message)
{
    gyre_wire_begin_(in, (GYRE_GLOBAL gyre_u8 *)message, 656u, 56u);
    gyre_read_order(in, message);
    return gyre_wire_end_(in);
}

#endif
