/* SPDX-License-Identifier: Apache-2.0 */
/* Written by `gyre wire` from add.h: its messages in the wire form of MemoryPack. */
#ifndef GYRE_WIRE_OF_ADD_H
#define GYRE_WIRE_OF_ADD_H

/* clang-format off */
#include <gyre/wire.h>

GYRE_HELPER void gyre_write_add_request(gyre_wire_out *out, const GYRE_GLOBAL add_request *value)
{
    if (gyre_wire_fits_(out, 42)) {
        GYRE_GLOBAL gyre_u8 *to = out->bytes + out->at;
        gyre_wire_move_id128_(to + 0, (const GYRE_GLOBAL gyre_u8 *)&value->id, 1);
        GYRE_WIRE_COPY_(to + 16, (const GYRE_GLOBAL gyre_u8 *)&value->priority, 1);
        {
            const gyre_part part = value->correlation;
            to[17] = gyre_has(part);
            if (gyre_has(part))
                gyre_wire_move_id128_(to + 18, (const GYRE_GLOBAL gyre_u8 *)(out->message + part.offset), 1);
            else
                GYRE_WIRE_ZERO_(to + 18, 16);
        }
        GYRE_WIRE_COPY_(to + 34, (const GYRE_GLOBAL gyre_u8 *)&value->a, 4);
        GYRE_WIRE_COPY_(to + 38, (const GYRE_GLOBAL gyre_u8 *)&value->b, 4);
        out->at += 42;
    }
}

GYRE_HELPER void gyre_read_add_request(gyre_wire_in *in, GYRE_GLOBAL add_request *value)
{
    if (gyre_wire_has_(in, 42)) {
        const GYRE_GLOBAL gyre_u8 *from = in->bytes + in->at;
        gyre_wire_move_id128_((GYRE_GLOBAL gyre_u8 *)&value->id, from + 0, 1);
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->priority, from + 16, 1);
        {
            const gyre_part part = gyre_wire_get_optional_(in, from, 17, GYRE_WIRE_PACKED_, 3, 16, 16);
            value->correlation = part;
            if (gyre_has(part))
                gyre_wire_move_id128_((GYRE_GLOBAL gyre_u8 *)(in->message + part.offset), from + 18, 1);
        }
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->a, from + 34, 4);
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->b, from + 38, 4);
        in->at += in->problem ? 0 : 42;
    }
}

/* Bytes on the wire, at most. */
#define GYRE_WIRE_MOST_add_request 42

/* Writes `message`; returns the number of bytes, or 0 and out->problem. */
GYRE_HELPER gyre_u32 gyre_encode_add_request(gyre_wire_out *out, const GYRE_GLOBAL add_request *message)
{
    gyre_wire_start_(out, (const GYRE_GLOBAL gyre_u8 *)message);
    gyre_write_add_request(out, message);
    return out->problem ? 0 : out->at;
}

/* Reads `message`; returns 1, or 0 and in->problem at byte in->at. */
GYRE_HELPER int gyre_decode_add_request(gyre_wire_in *in, GYRE_GLOBAL add_request *message)
{
    gyre_wire_begin_(in, (GYRE_GLOBAL gyre_u8 *)message, 56u, 40u);
    gyre_read_add_request(in, message);
    return gyre_wire_end_(in);
}

GYRE_HELPER void gyre_write_add_reply(gyre_wire_out *out, const GYRE_GLOBAL add_reply *value)
{
    if (gyre_wire_fits_(out, 38)) {
        GYRE_GLOBAL gyre_u8 *to = out->bytes + out->at;
        gyre_wire_move_id128_(to + 0, (const GYRE_GLOBAL gyre_u8 *)&value->id, 1);
        GYRE_WIRE_COPY_(to + 16, (const GYRE_GLOBAL gyre_u8 *)&value->priority, 1);
        {
            const gyre_part part = value->correlation;
            to[17] = gyre_has(part);
            if (gyre_has(part))
                gyre_wire_move_id128_(to + 18, (const GYRE_GLOBAL gyre_u8 *)(out->message + part.offset), 1);
            else
                GYRE_WIRE_ZERO_(to + 18, 16);
        }
        GYRE_WIRE_COPY_(to + 34, (const GYRE_GLOBAL gyre_u8 *)&value->result, 4);
        out->at += 38;
    }
}

GYRE_HELPER void gyre_read_add_reply(gyre_wire_in *in, GYRE_GLOBAL add_reply *value)
{
    if (gyre_wire_has_(in, 38)) {
        const GYRE_GLOBAL gyre_u8 *from = in->bytes + in->at;
        gyre_wire_move_id128_((GYRE_GLOBAL gyre_u8 *)&value->id, from + 0, 1);
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->priority, from + 16, 1);
        {
            const gyre_part part = gyre_wire_get_optional_(in, from, 17, GYRE_WIRE_PACKED_, 3, 16, 16);
            value->correlation = part;
            if (gyre_has(part))
                gyre_wire_move_id128_((GYRE_GLOBAL gyre_u8 *)(in->message + part.offset), from + 18, 1);
        }
        GYRE_WIRE_COPY_((GYRE_GLOBAL gyre_u8 *)&value->result, from + 34, 4);
        in->at += in->problem ? 0 : 38;
    }
}

/* Bytes on the wire, at most. */
#define GYRE_WIRE_MOST_add_reply 38

/* Writes `message`; returns the number of bytes, or 0 and out->problem. */
GYRE_HELPER gyre_u32 gyre_encode_add_reply(gyre_wire_out *out, const GYRE_GLOBAL add_reply *message)
{
    gyre_wire_start_(out, (const GYRE_GLOBAL gyre_u8 *)message);
    gyre_write_add_reply(out, message);
    return out->problem ? 0 : out->at;
}

/* Reads `message`; returns 1, or 0 and in->problem at byte in->at. */
GYRE_HELPER int gyre_decode_add_reply(gyre_wire_in *in, GYRE_GLOBAL add_reply *message)
{
    gyre_wire_begin_(in, (GYRE_GLOBAL gyre_u8 *)message, 56u, 40u);
    gyre_read_add_reply(in, message);
    return gyre_wire_end_(in);
}

#endif
