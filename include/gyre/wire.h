/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts messages to and from the wire form of MemoryPack: the building blocks of the functions that `gyre wire`
 * writes. For the host and for handlers in every dialect; a handler's file includes <gyre/kernel.h> first.
 *
 *     gyre_wire_out out = {.bytes = bytes, .room = sizeof bytes};
 *     gyre_u32 length = gyre_encode_order(&out, &message);      0: out.problem says why
 *     gyre_wire_in in = {.bytes = bytes, .length = length};
 *     if (!gyre_decode_order(&in, &message))
 *         ... in.problem, found at byte in.at
 *
 * Nothing beyond `length` is read and nothing beyond `room` written. Any bytes may be decoded, whoever made them. A
 * message to be encoded must have been delivered by Gyre, built here, or accepted by gyre_message_check. Stability: as
 * message.h for the two structs; all else is for generated text of the same version.
 */
#ifndef GYRE_WIRE_H
#define GYRE_WIRE_H

#include "gyre/message.h"

#ifndef GYRE_GLOBAL
#define GYRE_GLOBAL
#define GYRE_HELPER static inline __attribute__((__unused__))
#endif
#ifndef GYRE_LITERAL_
#define GYRE_LITERAL_
#endif

typedef struct gyre_wire_out {
    GYRE_GLOBAL gyre_u8 *bytes;
    gyre_u32 room; /* bytes that may be written */
    gyre_u32 at;   /* bytes that were written */
    GYRE_LITERAL_ const char *problem;
    const GYRE_GLOBAL gyre_u8 *message;
} gyre_wire_out;

typedef struct gyre_wire_in {
    const GYRE_GLOBAL gyre_u8 *bytes;
    gyre_u32 length;
    gyre_u32 at; /* bytes that were read; after a problem, its offset */
    /* at most 43 letters, as many as a failure has room for; also in gyre_wire_out */
    GYRE_LITERAL_ const char *problem;
    GYRE_GLOBAL gyre_u8 *message;
    gyre_u32 message_size;
} gyre_wire_in;

#define GYRE_WIRE_PADDED_ 0
#define GYRE_WIRE_PACKED_ 1
#define GYRE_WIRE_BARE_   2

#if defined(GYRE_DIALECT_C) && !defined(GYRE_CHECK)
#define GYRE_WIRE_COPY_(to, from, size) ((void)__builtin_memcpy((to), (from), (size)))
#define GYRE_WIRE_ZERO_(to, size)       ((void)__builtin_memset((to), 0, (size)))
#else
#define GYRE_WIRE_COPY_(to, from, size)                                                                      \
    do {                                                                                                     \
        for (gyre_u32 i_ = 0; i_ < (size); i_++)                                                             \
            (to)[i_] = (from)[i_];                                                                           \
    } while (0)
#define GYRE_WIRE_ZERO_(to, size)                                                                            \
    do {                                                                                                     \
        for (gyre_u32 i_ = 0; i_ < (size); i_++)                                                             \
            (to)[i_] = 0;                                                                                    \
    } while (0)
#endif

/* ---- writing ---- */

GYRE_HELPER void gyre_wire_start_(gyre_wire_out *out, const GYRE_GLOBAL gyre_u8 *message)
{
    out->at = 0;
    out->problem = 0;
    out->message = message;
}

/* Whether there is room for `size` more bytes. If not, it notes a problem, unless there was one before. */
GYRE_HELPER int gyre_wire_fits_(gyre_wire_out *out, gyre_u32 size)
{
    if (!out->problem && size > out->room - out->at)
        out->problem = "no more room for the encoded message";
    return !out->problem;
}

GYRE_HELPER void gyre_wire_put_(gyre_wire_out *out, const GYRE_GLOBAL gyre_u8 *from, gyre_u32 size)
{
    if (!gyre_wire_fits_(out, size))
        return;
    GYRE_WIRE_COPY_(out->bytes + out->at, from, size);
    out->at += size;
}

GYRE_HELPER void gyre_wire_put_u8_(gyre_wire_out *out, gyre_u32 byte)
{
    if (gyre_wire_fits_(out, 1))
        out->bytes[out->at++] = (gyre_u8)byte;
}

GYRE_HELPER void gyre_wire_put_i32_(gyre_wire_out *out, gyre_i32 value)
{
    if (!gyre_wire_fits_(out, 4))
        return;
    for (gyre_u32 i = 0; i < 4; i++)
        out->bytes[out->at + i] = (gyre_u8)((gyre_u32)value >> 8 * i);
    out->at += 4;
}

GYRE_HELPER void gyre_wire_put_zeros_(gyre_wire_out *out, gyre_u32 size)
{
    if (!gyre_wire_fits_(out, size))
        return;
    GYRE_WIRE_ZERO_(out->bytes + out->at, size);
    out->at += size;
}

/*
 * Swaps the bytes of an id128 to and from a .NET GUID, whose first three groups are little-endian. The same swap leads
 * there and back.
 */
#if defined(GYRE_DIALECT_C) && !defined(GYRE_CHECK)
GYRE_HELPER void gyre_wire_move_id128_(gyre_u8 *to, const gyre_u8 *from, int dotnet)
{
    gyre_u64 groups, rest;
    GYRE_WIRE_COPY_(&groups, from, 8);
    GYRE_WIRE_COPY_(&rest, from + 8, 8);
    if (dotnet) {
        const gyre_u32 first = (gyre_u32)groups, others = (gyre_u32)(groups >> 32);
        groups = (first >> 24) | (first >> 8 & 0xff00) | (first << 8 & 0xff0000) | (first << 24);
        groups |= (gyre_u64)((others >> 8 & 0xff00ff) | (others & 0xff00ff) << 8) << 32;
    }
    GYRE_WIRE_COPY_(to, &groups, 8);
    GYRE_WIRE_COPY_(to + 8, &rest, 8);
}
#else
GYRE_HELPER void gyre_wire_move_id128_(GYRE_GLOBAL gyre_u8 *to, const GYRE_GLOBAL gyre_u8 *from, int dotnet)
{
    for (gyre_u32 i = 0; i < 16; i++)
        to[i] = from[!dotnet || i > 7 ? i : i < 4 ? 3 - i : i ^ 1];
}
#endif

GYRE_HELPER void gyre_wire_put_id128_(gyre_wire_out *out, const GYRE_GLOBAL gyre_u8 *from, int dotnet)
{
    if (!gyre_wire_fits_(out, 16))
        return;
    gyre_wire_move_id128_(out->bytes + out->at, from, dotnet);
    out->at += 16;
}

/* ---- characters ---- */

/* Returns the number of bytes of the UTF-8 character at the front of the text; 0 when there is none. */
GYRE_HELPER gyre_u32 gyre_wire_character_(const GYRE_GLOBAL gyre_u8 *text, gyre_u32 left)
{
    const gyre_u32 first = text[0];
    const gyre_u32 length = first < 0x80   ? 1
                            : first < 0xc2 ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
    if (length > left)
        return 0;
    for (gyre_u32 i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
        (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

/* Returns the number of UTF-16 units of a text. Returns 0xffffffff when the text is no UTF-8; *at then says where. */
GYRE_HELPER gyre_u32 gyre_wire_units_(const GYRE_GLOBAL gyre_u8 *text, gyre_u32 length, gyre_u32 *at)
{
    gyre_u32 units = 0;
    for (*at = 0; *at < length;) {
        const gyre_u32 step = gyre_wire_character_(text + *at, length - *at);
        if (step == 0)
            return 0xffffffffu;
        units += step == 4 ? 2 : 1;
        *at += step;
    }
    return units;
}

GYRE_HELPER void gyre_wire_put_unit_(gyre_wire_out *out, gyre_u32 unit)
{
    out->bytes[out->at++] = (gyre_u8)unit;
    out->bytes[out->at++] = (gyre_u8)(unit >> 8);
}

GYRE_HELPER void gyre_wire_put_utf16_(gyre_wire_out *out, const GYRE_GLOBAL gyre_u8 *text, gyre_u32 length)
{
    for (gyre_u32 at = 0; at < length;) {
        const gyre_u32 step = gyre_wire_character_(text + at, length - at);
        gyre_u32 code = step == 1 ? text[at] : text[at] & (0xffu >> (step + 1));
        for (gyre_u32 i = 1; i < step; i++)
            code = code << 6 | (text[at + i] & 0x3fu);
        if (code > 0xffff) {
            gyre_wire_put_unit_(out, 0xd800u + ((code - 0x10000u) >> 10));
            code = 0xdc00u + ((code - 0x10000u) & 0x3ffu);
        }
        gyre_wire_put_unit_(out, code);
        at += step;
    }
}

/* Refuses items in a device buffer, which are not followed: they may be more than any message holds. */
GYRE_HELPER int gyre_wire_is_near_(gyre_wire_out *out, gyre_part part)
{
    if (gyre_is_far(part) && !out->problem)
        out->problem = "its items lie in a device buffer";
    return !gyre_is_far(part);
}

GYRE_HELPER void gyre_wire_put_count_(gyre_wire_out *out, gyre_part part)
{
    if (gyre_wire_is_near_(out, part))
        gyre_wire_put_i32_(out, (gyre_i32)part.count);
}

GYRE_HELPER void gyre_wire_put_text_(gyre_wire_out *out, gyre_part part, int utf16)
{
    const GYRE_GLOBAL gyre_u8 *text = out->message + part.offset;
    gyre_u32 at;
    if (!gyre_wire_is_near_(out, part))
        return;
    const gyre_u32 units = gyre_wire_units_(text, part.count, &at);
    if (units == 0xffffffffu && !out->problem)
        out->problem = "the text is not UTF-8";
    if (part.count == 0 || units == 0xffffffffu) {
        gyre_wire_put_i32_(out, 0);
    } else if (utf16) {
        gyre_wire_put_i32_(out, (gyre_i32)units);
        if (gyre_wire_fits_(out, units * 2))
            gyre_wire_put_utf16_(out, text, part.count);
    } else {
        gyre_wire_put_i32_(out, (gyre_i32)~part.count);
        gyre_wire_put_i32_(out, (gyre_i32)units);
        gyre_wire_put_(out, text, part.count);
    }
}

/* ---- reading ---- */

/* Notes a problem, unless there was one before. The problem lies `back` bytes before the place that was reached. */
GYRE_HELPER void gyre_wire_fail_(gyre_wire_in *in, gyre_u32 back, GYRE_LITERAL_ const char *problem)
{
    if (in->problem)
        return;
    in->problem = problem;
    in->at -= back;
}

/* Whether `size` more bytes are there. If not, the problem's place is the end of the bytes. */
GYRE_HELPER int gyre_wire_has_(gyre_wire_in *in, gyre_u32 size)
{
    if (!in->problem && size > in->length - in->at)
        gyre_wire_fail_(in, in->at - in->length, "the input ends within it");
    return !in->problem;
}

GYRE_HELPER void gyre_wire_get_(gyre_wire_in *in, GYRE_GLOBAL gyre_u8 *to, gyre_u32 size)
{
    if (!gyre_wire_has_(in, size))
        return;
    GYRE_WIRE_COPY_(to, in->bytes + in->at, size);
    in->at += size;
}

GYRE_HELPER gyre_u32 gyre_wire_get_u8_(gyre_wire_in *in)
{
    return gyre_wire_has_(in, 1) ? in->bytes[in->at++] : 0;
}

GYRE_HELPER gyre_i32 gyre_wire_get_i32_(gyre_wire_in *in)
{
    gyre_u32 value = 0;
    if (!gyre_wire_has_(in, 4))
        return 0;
    for (gyre_u32 i = 0; i < 4; i++)
        value |= (gyre_u32)in->bytes[in->at + i] << 8 * i;
    in->at += 4;
    return (gyre_i32)value;
}

#define GYRE_WIRE_NONZERO_ "expected 0 in padding or an absent value"
GYRE_HELPER void gyre_wire_get_zeros_(gyre_wire_in *in, gyre_u32 size)
{
    if (!gyre_wire_has_(in, size))
        return;
    for (gyre_u32 i = 0; i < size; i++)
        if (gyre_wire_get_u8_(in) != 0)
            gyre_wire_fail_(in, 1, GYRE_WIRE_NONZERO_);
}

GYRE_HELPER void gyre_wire_get_id128_(gyre_wire_in *in, GYRE_GLOBAL gyre_u8 *to, int dotnet)
{
    if (!gyre_wire_has_(in, 16))
        return;
    gyre_wire_move_id128_(to, in->bytes + in->at, dotnet);
    in->at += 16;
}

GYRE_HELPER void gyre_wire_get_members_(gyre_wire_in *in, gyre_u32 count)
{
    if (gyre_wire_get_u8_(in) != count)
        gyre_wire_fail_(in, 1, "an object of another number of members");
}

/* Makes room for items in the message's tail, which the caller fills; the gap before them becomes zero. */
GYRE_HELPER gyre_part gyre_wire_take_(gyre_wire_in *in, gyre_u32 item_size, gyre_u32 count)
{
    GYRE_GLOBAL gyre_u32 *used = (GYRE_GLOBAL gyre_u32 *)(GYRE_GLOBAL void *)in->message;
    const gyre_u32 alignment = gyre_item_alignment_(item_size), size = in->message_size;
    gyre_part part = {0, 0};
    if (in->problem || count == 0)
        return part;
    const gyre_u32 end = *used, first = (end + alignment - 1) / alignment * alignment;
    if (first > size || count > (size - first) / item_size) {
        gyre_wire_fail_(in, 0, "it does not fit the message's tail");
        return part;
    }
    GYRE_WIRE_ZERO_(in->message + end, alignment); /* at most as large as an item */
    *used = first + count * item_size;
    part.offset = first;
    part.count = count;
    return part;
}

/* Makes room for zeroed items in the message's tail. */
GYRE_HELPER gyre_part gyre_wire_new_(gyre_wire_in *in, gyre_u32 item_size, gyre_u32 count)
{
    const gyre_part part = gyre_wire_take_(in, item_size, count);
    GYRE_WIRE_ZERO_(in->message + part.offset, part.count * item_size);
    return part;
}

/*
 * Reads the count of a span and makes room for its items. Each element takes at least a byte, so a count beyond the
 * remaining bytes is refused before room is made.
 */
GYRE_HELPER gyre_part gyre_wire_get_span_(gyre_wire_in *in, gyre_u32 item_size)
{
    const gyre_i32 count = gyre_wire_get_i32_(in);
    if (!in->problem && count != -1 && (gyre_u32)count > in->length - in->at)
        gyre_wire_fail_(in, 4, "a collection's count is negative or too big");
    return gyre_wire_new_(in, item_size, count == -1 ? 0 : (gyre_u32)count);
}

/*
 * Returns whether an optional value is there. A flag before the value says so; a bare value has no flag, and is there
 * unless all its bytes are zero. Also reads the padding, and the zeros that stand for an absent value.
 */
GYRE_HELPER int gyre_wire_get_flag_(gyre_wire_in *in, int nullable, gyre_u32 padding, gyre_u32 size)
{
    gyre_u32 there = 1;
    if (nullable != GYRE_WIRE_BARE_) {
        there = gyre_wire_get_u8_(in);
        if (there > 1)
            gyre_wire_fail_(in, 1, "expected an optional value's flag, 0 or 1");
    } else if (size <= in->length - in->at) {
        there = 0;
        for (gyre_u32 i = 0; i < size; i++)
            there |= in->bytes[in->at + i];
    }
    if (nullable == GYRE_WIRE_PADDED_)
        gyre_wire_get_zeros_(in, padding);
    if (there == 0)
        gyre_wire_get_zeros_(in, size);
    return there != 0;
}

/* Returns the index of the first of `size` bytes that is not zero; `size` when all are zero. */
GYRE_HELPER gyre_u32 gyre_wire_nonzero_(const GYRE_GLOBAL gyre_u8 *bytes, gyre_u32 size)
{
    gyre_u8 any = 0;
    gyre_u32 at = 0;
    for (gyre_u32 i = 0; i < size; i++)
        any |= bytes[i];
    if (any == 0)
        return size;
    while (bytes[at] == 0)
        at++;
    return at;
}

/* Notes a problem, unless there was one before. The problem lies `ahead` bytes after the place that was reached. */
GYRE_HELPER void gyre_wire_fail_ahead_(gyre_wire_in *in, gyre_u32 ahead, GYRE_LITERAL_ const char *problem)
{
    if (in->problem)
        return;
    in->problem = problem;
    in->at += ahead;
}

/*
 * Reads an optional value of fixed size that begins at run[ahead]; the caller has checked that its bytes are there.
 * The value itself starts behind flag and padding. Makes room for it in the message's tail. Does not use in->at to
 * find the value, because an earlier problem has moved in->at.
 */
GYRE_HELPER gyre_part gyre_wire_get_optional_(gyre_wire_in *in, const GYRE_GLOBAL gyre_u8 *run,
                                              gyre_u32 ahead, int nullable, gyre_u32 padding, gyre_u32 size,
                                              gyre_u32 item_size)
{
    const GYRE_GLOBAL gyre_u8 *from = run + ahead;
    const gyre_u32 flag = nullable == GYRE_WIRE_BARE_ ? 0 : 1;
    const gyre_u32 gap = nullable == GYRE_WIRE_PADDED_ ? padding : 0;
    gyre_u32 there = flag ? from[0] : gyre_wire_nonzero_(from, size) != size;
    if (there > 1)
        gyre_wire_fail_ahead_(in, ahead, "expected an optional value's flag, 0 or 1");
    const gyre_u32 zeros = there == 0 ? gap + size : gap, found = gyre_wire_nonzero_(from + flag, zeros);
    if (found != zeros)
        gyre_wire_fail_ahead_(in, ahead + flag + found, GYRE_WIRE_NONZERO_);
    const gyre_u32 value_at = in->problem ? 0 : ahead + flag + gap;
    const gyre_part part = gyre_wire_take_(in, item_size, there == 1 ? 1 : 0);
    in->at += in->problem ? value_at : 0;
    return part;
}

/* Reads whether a text (by its count) or an object (by its byte of members) is not null. */
GYRE_HELPER int gyre_wire_get_null_(gyre_wire_in *in, gyre_u32 size)
{
    const int there = size == 4 ? gyre_wire_get_i32_(in) != -1 : gyre_wire_get_u8_(in) != 255;
    if (in->problem || !there)
        return 0;
    in->at -= size;
    return 1;
}

/* Returns the number of bytes of a character in UTF-8; writes them when `to` is not 0. */
GYRE_HELPER gyre_u32 gyre_wire_put_character_(GYRE_GLOBAL gyre_u8 *to, gyre_u32 code)
{
    const gyre_u32 length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    const gyre_u32 lead = length == 1 ? 0 : 0xf00u >> length & 0xff;
    if (!to)
        return length;
    for (gyre_u32 i = length - 1; i > 0; i--, code >>= 6)
        to[i] = (gyre_u8)(0x80 | (code & 0x3f));
    to[0] = (gyre_u8)(lead | code);
    return length;
}

/* Returns the number of bytes of UTF-8 that UTF-16 units make; half of a surrogate pair is a problem. */
GYRE_HELPER gyre_u32 gyre_wire_from_utf16_(gyre_wire_in *in, gyre_u32 start, gyre_u32 count,
                                           GYRE_GLOBAL gyre_u8 *to)
{
    const GYRE_GLOBAL gyre_u8 *units = in->bytes + start;
    gyre_u32 length = 0;
    for (gyre_u32 i = 0; i < count; i++) {
        gyre_u32 code = (gyre_u32)units[2 * i] | (gyre_u32)units[2 * i + 1] << 8;
        if (code >= 0xd800 && code < 0xe000) {
            const gyre_u32 low =
                i + 1 < count ? (gyre_u32)units[2 * i + 2] | (gyre_u32)units[2 * i + 3] << 8 : 0;
            if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000) {
                gyre_wire_fail_(in, in->at - (start + 2 * i), "half of a surrogate pair in UTF-16");
                return 0;
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            i++;
        }
        length += gyre_wire_put_character_(to ? to + length : to, code);
    }
    return length;
}

GYRE_HELPER gyre_part gyre_wire_get_utf16_(gyre_wire_in *in, gyre_u32 count)
{
    const gyre_u32 start = in->at;
    gyre_part part = {0, 0};
    if (!gyre_wire_has_(in, count > 0x7fffffffu / 2 ? 0xffffffffu : count * 2))
        return part;
    in->at += count * 2;
    part = gyre_wire_new_(in, 1, gyre_wire_from_utf16_(in, start, count, 0));
    if (gyre_has(part))
        gyre_wire_from_utf16_(in, start, count, in->message + part.offset);
    return part;
}

GYRE_HELPER gyre_part gyre_wire_get_utf8_(gyre_wire_in *in, gyre_u32 length)
{
    const gyre_i32 said = gyre_wire_get_i32_(in);
    gyre_part part = {0, 0};
    gyre_u32 at;
    if (!gyre_wire_has_(in, length))
        return part;
    const gyre_u32 start = in->at, units = gyre_wire_units_(in->bytes + start, length, &at);
    if (units == 0xffffffffu) {
        in->at = start;
        in->at += at;
        gyre_wire_fail_(in, 0, "the text is not UTF-8");
    } else if (said != -1 && (gyre_u32)said != units) {
        gyre_wire_fail_(in, 4, "not as many UTF-16 units as the text says");
    }
    in->at += in->problem ? 0 : length;
    part = gyre_wire_take_(in, 1, length);
    GYRE_WIRE_COPY_(in->message + part.offset, in->bytes + start, part.count);
    return part;
}

/* Reads a text. The sign of the count says whether it is UTF-8 or UTF-16. */
GYRE_HELPER gyre_part gyre_wire_get_text_(gyre_wire_in *in)
{
    const gyre_i32 count = gyre_wire_get_i32_(in);
    gyre_part none = {0, 0};
    if (in->problem || count == -1)
        return none;
    return count >= 0 ? gyre_wire_get_utf16_(in, (gyre_u32)count) : gyre_wire_get_utf8_(in, ~(gyre_u32)count);
}

/*
 * Begins to read a message. `least` bytes of a message with a tail are there before anything is read; 0: the message
 * has no tail.
 */
GYRE_HELPER void gyre_wire_begin_(gyre_wire_in *in, GYRE_GLOBAL gyre_u8 *message, gyre_u32 size,
                                  gyre_u32 least)
{
    in->at = 0;
    in->problem = 0;
    in->message = message;
    in->message_size = size;
    GYRE_WIRE_ZERO_(message, least ? least : size);
    if (least)
        *(GYRE_GLOBAL gyre_u32 *)(GYRE_GLOBAL void *)message = least;
}

GYRE_HELPER int gyre_wire_end_(gyre_wire_in *in)
{
    if (in->at != in->length)
        gyre_wire_fail_(in, 0, "bytes are left over behind the message");
    return !in->problem;
}

#endif
