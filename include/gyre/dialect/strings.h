/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in handlers, in every dialect: a string has the address of a text's bytes and their number. Included by
 * kernel.h behind parts.h.
 *
 *     gyre_string gyre_string_of(message, part)           a text of a message, or any span of bytes
 *     gyre_string gyre_string_array(array)                an array of i8 or u8 in a message, state, or buffer: up to its first
 *                                                     0, or all of it
 *     gyre_string gyre_string_bytes(pointer, count)       bytes at a GYRE_GLOBAL pointer
 *     gyre_string gyre_string_cut(string, first, count)     a part of a string; what it does not hold is left out
 *
 *     int gyre_string_equal(a, b)                       1 when both have the same bytes
 *     i32 gyre_string_compare(a, b)                     below 0, 0, above 0: by bytes, a shorter one first
 *     u32 gyre_string_find(string, what)                  where `what` begins first; GYRE_NOWHERE when it is not there
 *     u32 gyre_string_find_byte(string, byte)             where `byte` is first; GYRE_NOWHERE when it is not there
 *     int gyre_string_is(string, "literal")               1 when it has the literal's bytes
 *     int gyre_string_begins(string, "literal")           1 when it begins with the literal's bytes
 *     u32 gyre_string_store(string, array)                copies the bytes that fit into an array of i8 or u8, then zeros;
 *                                                     returns how many bytes of the string it copied
 *
 *     gyre_part gyre_new_string(gyre, reply, string)      a new text of the reply; as gyre_new
 *     gyre_append(gyre, reply, part, string)            appends a string: `part` was made last in the reply, or is empty
 *     gyre_append_text(gyre, reply, part, "literal")
 *     gyre_append_u64(gyre, reply, part, number)      in decimal digits
 *     gyre_append_i64(gyre, reply, part, number)
 *
 * decimal.h has gyre_append_f64. `part` of the functions gyre_append... is a field of the reply, which they write. The message
 * fails with GYRE_FAILURE_TAIL if another part was made behind it, or if there is no room. In block kernels lane 0 alone calls
 * the functions that write into the reply.
 */
#ifndef GYRE_DIALECT_STRINGS_H
#define GYRE_DIALECT_STRINGS_H

/** Bytes in GYRE_GLOBAL memory. */
typedef struct gyre_string {
    const GYRE_GLOBAL gyre_u8 *bytes;
    gyre_u32 count;
} gyre_string;
#define GYRE_NOWHERE 0xffffffffu

GYRE_LATE_ gyre_string gyre_string_bytes_(const GYRE_GLOBAL void *bytes, gyre_u32 count)
{
    gyre_string string;
    string.bytes = (const GYRE_GLOBAL gyre_u8 *)bytes;
    string.count = count;
    return string;
}
#define gyre_string_bytes(pointer_, count_) gyre_string_bytes_((pointer_), (count_))

GYRE_LATE_ gyre_string gyre_string_of_(const GYRE_GLOBAL gyre_u8 *message, gyre_part part)
{
    return gyre_string_bytes_(gyre_items_at_(message, part), part.count);
}
#define gyre_string_of(message_, part_) gyre_string_of_((const GYRE_GLOBAL gyre_u8 *)(message_), (part_))

GYRE_LATE_ gyre_string gyre_string_array_(const GYRE_GLOBAL gyre_u8 *array, gyre_u32 size)
{
    gyre_u32 count = 0;
    while (count < size && array[count])
        count++;
    return gyre_string_bytes_(array, count);
}
#define gyre_string_array(array_)                                                                            \
    gyre_string_array_((const GYRE_GLOBAL gyre_u8 *)(array_), (gyre_u32)(sizeof(array_)))

GYRE_LATE_ gyre_string gyre_string_cut(gyre_string string, gyre_u32 first, gyre_u32 count)
{
    const gyre_u32 begin = first < string.count ? first : string.count, rest = string.count - begin;
    return gyre_string_bytes_(string.bytes + begin, count < rest ? count : rest);
}

GYRE_LATE_ gyre_i32 gyre_string_compare(gyre_string a, gyre_string b)
{
    for (gyre_u32 i = 0; i < a.count && i < b.count; i++)
        if (a.bytes[i] != b.bytes[i])
            return a.bytes[i] < b.bytes[i] ? -1 : 1;
    return a.count == b.count ? 0 : a.count < b.count ? -1 : 1;
}

GYRE_LATE_ int gyre_string_equal(gyre_string a, gyre_string b)
{
    return a.count == b.count && gyre_string_compare(a, b) == 0;
}

GYRE_LATE_ gyre_u32 gyre_string_find(gyre_string string, gyre_string what)
{
    for (gyre_u32 i = 0; what.count <= string.count && i <= string.count - what.count; i++)
        if (gyre_string_equal(gyre_string_cut(string, i, what.count), what))
            return i;
    return GYRE_NOWHERE;
}

GYRE_LATE_ gyre_u32 gyre_string_find_byte(gyre_string string, gyre_u8 byte)
{
    for (gyre_u32 i = 0; i < string.count; i++)
        if (string.bytes[i] == byte)
            return i;
    return GYRE_NOWHERE;
}

GYRE_LATE_ int gyre_string_begins_(gyre_string string, GYRE_LITERAL_ const char *text, gyre_u32 length)
{
    if (string.count < length)
        return 0;
    for (gyre_u32 i = 0; i < length; i++)
        if (string.bytes[i] != (gyre_u8)text[i])
            return 0;
    return 1;
}
#define gyre_string_begins(string_, text_)                                                                   \
    gyre_string_begins_((string_), (text_), (gyre_u32)(sizeof(text_) - 1))

GYRE_LATE_ int gyre_string_is_(gyre_string string, GYRE_LITERAL_ const char *text, gyre_u32 length)
{
    return string.count == length && gyre_string_begins_(string, text, length);
}
#define gyre_string_is(string_, text_) gyre_string_is_((string_), (text_), (gyre_u32)(sizeof(text_) - 1))

GYRE_LATE_ gyre_u32 gyre_string_store_(gyre_string string, GYRE_GLOBAL gyre_u8 *array, gyre_u32 size)
{
    const gyre_u32 count = string.count < size ? string.count : size;
    GYRE_STORES_(array, size);
    for (gyre_u32 i = 0; i < size; i++)
        array[i] = i < count ? string.bytes[i] : 0;
    return count;
}
#define gyre_string_store(string_, array_)                                                                   \
    gyre_string_store_((string_), (GYRE_GLOBAL gyre_u8 *)(array_), (gyre_u32)(sizeof(array_)))

/* ---- texts of the reply ---- */

GYRE_LATE_ gyre_part gyre_new_string_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                      gyre_string string)
{
    const gyre_part part = gyre_new_(gyre, reply, size, string.count, 1);
    for (gyre_u32 i = 0; i < part.count; i++)
        reply[part.offset + i] = string.bytes[i];
    return part;
}
#define gyre_new_string(gyre_, reply_, string_)                                                              \
    gyre_new_string_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (string_))

/*
 * Makes room for `count` more bytes behind a part; *at says where they go. The part's own bytes stay the same. Only
 * the last part of the reply can grow: another part, a far part (in a device buffer), or no room fails the message.
 */
GYRE_LATE_ gyre_part gyre_longer_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                  gyre_part part, gyre_u32 count, gyre_u32 *at)
{
    GYRE_GLOBAL gyre_u32 *used = (GYRE_GLOBAL gyre_u32 *)(GYRE_GLOBAL void *)reply;
    gyre_part more = {0, 0};
    *at = 0;
    if (count == 0)
        return part;
    if (part.count > 0 && (gyre_is_far(part) || part.offset + part.count != *used)) {
        gyre_fail_(gyre, GYRE_FAILURE_TAIL, "gyre_append: the text is not what was made last");
        return part;
    }
    more = gyre_new_(gyre, reply, size, count, 1);
    if (more.count == 0)
        return part;
    *at = more.offset;
    if (part.count == 0)
        return more;
    part.count += count;
    return part;
}

GYRE_LATE_ gyre_part gyre_append_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                  gyre_part part, gyre_string string)
{
    gyre_u32 at;
    part = gyre_longer_(gyre, reply, size, part, string.count, &at);
    for (gyre_u32 i = 0; at && i < string.count; i++)
        reply[at + i] = string.bytes[i];
    return part;
}
#define gyre_append(gyre_, reply_, part_, string_)                                                           \
    ((void)((part_) = gyre_append_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (part_),     \
                                   (string_))))

GYRE_LATE_ gyre_part gyre_append_text_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                       gyre_part part, GYRE_LITERAL_ const char *text, gyre_u32 length)
{
    gyre_u32 at;
    part = gyre_longer_(gyre, reply, size, part, length, &at);
    for (gyre_u32 i = 0; at && i < length; i++)
        reply[at + i] = (gyre_u8)text[i];
    return part;
}
#define gyre_append_text(gyre_, reply_, part_, text_)                                                        \
    ((void)((part_) = gyre_append_text_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)),         \
                                        (part_), (text_), (gyre_u32)(sizeof(text_) - 1))))

/* Appends `number` with at least `least` digits, after a minus sign if it is `negative`. */
GYRE_LATE_ gyre_part gyre_append_digits_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                         gyre_part part, gyre_u64 number, gyre_u32 least, int negative)
{
    gyre_u32 at, digits = 1;
    for (gyre_u64 rest = number / 10; rest; rest /= 10)
        digits++;
    digits = digits < least ? least : digits;
    part = gyre_longer_(gyre, reply, size, part, digits + (negative ? 1u : 0u), &at);
    if (!at)
        return part;
    if (negative)
        reply[at++] = '-';
    for (gyre_u32 i = digits; i > 0; i--, number /= 10)
        reply[at + i - 1] = (gyre_u8)('0' + number % 10);
    return part;
}
#define GYRE_APPEND_DIGITS_(gyre_, reply_, part_, number_, negative_)                                        \
    ((void)((part_) = gyre_append_digits_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)),       \
                                          (part_), (number_), 1, (negative_))))
#define gyre_append_u64(gyre_, reply_, part_, number_) GYRE_APPEND_DIGITS_(gyre_, reply_, part_, (number_), 0)

GYRE_LATE_ gyre_part gyre_append_i64_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                      gyre_part part, gyre_i64 number)
{
    return gyre_append_digits_(gyre, reply, size, part, number < 0 ? 0 - (gyre_u64)number : (gyre_u64)number,
                               1, number < 0);
}
#define gyre_append_i64(gyre_, reply_, part_, number_)                                                       \
    ((void)((part_) = gyre_append_i64_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (part_), \
                                       (number_))))

#endif
