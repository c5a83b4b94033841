/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the wire form of a message (pack.h) to the message. The bytes may come from anywhere, so every count is checked
 * against the bytes that are left, and against the message's tail. After the first error nothing more is read, and that error
 * is reported. No state.
 */
#include "cli/wire/decode.h"
#include "cli/wire/pack.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/types/message.h"

typedef struct reader {
    const gyre_pack *wire;
    unsigned char *message;
    uint64_t message_size;
    const uint8_t *bytes;
    size_t length, at;
    const char *field, *problem;
} reader;

static void read_value(reader *in, gyre_pack_options options, const gyre_layout *layout,
                       unsigned char *value);

static bool reader_fail(reader *in, const char *problem)
{
    if (!in->problem)
        in->problem = problem;
    return false;
}

/* Takes the next `size` bytes; NULL when fewer are left. */
static const uint8_t *reader_take(reader *in, uint64_t size)
{
    if (!in->problem && size > in->length - in->at) {
        in->at = in->length;
        reader_fail(in, "the input ends within it");
    }
    if (in->problem)
        return NULL;
    const uint8_t *bytes = in->bytes + in->at;
    in->at += size;
    return bytes;
}

static unsigned take_byte(reader *in)
{
    const uint8_t *byte = reader_take(in, 1);
    return byte ? *byte : 0;
}

static int32_t take_i32(reader *in)
{
    const uint8_t *bytes = reader_take(in, 4);
    return bytes ? (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                             (uint32_t)bytes[3] << 24)
                 : 0;
}

static void take_zeros(reader *in, uint64_t count)
{
    const uint8_t *bytes = reader_take(in, count);
    for (uint64_t i = 0; bytes && i < count; i++)
        if (bytes[i] != 0) {
            in->at -= count - i;
            reader_fail(in, "expected 0 in padding or an absent value");
            return;
        }
}

/* Takes room for items in the message's tail. */
static unsigned char *new_items(reader *in, const gyre_layout *element, uint64_t count, unsigned char *value)
{
    gyre_part part;
    if (!in->problem && !gyre_part_take(in->message, in->message_size, element->size, count, &part))
        reader_fail(in, "it does not fit the message's tail");
    if (in->problem)
        return NULL;
    memcpy(value, &part, sizeof part);
    return in->message + part.offset;
}

/* ---- texts ---- */

static size_t put_utf8(uint32_t code, unsigned char *to)
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; to && i > 0; i--, code >>= 6)
        to[i] = (unsigned char)(0x80 | (code & 0x3f));
    if (to)
        to[0] = (unsigned char)(lead[length] | code);
    return length;
}

/* Counts the bytes of UTF-8 for UTF-16 units, and writes them unless `to` is NULL. Surrogates must stand in pairs. */
static uint64_t from_utf16(reader *in, const uint8_t *units, uint64_t count, unsigned char *to)
{
    uint64_t length = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t code = (uint32_t)(units[2 * i] | units[2 * i + 1] << 8);
        if (code >= 0xd800 && code < 0xe000) {
            uint32_t low = i + 1 < count ? (uint32_t)(units[2 * i + 2] | units[2 * i + 3] << 8) : 0;
            if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000) {
                in->at = (size_t)(units + 2 * i - in->bytes);
                reader_fail(in, "half of a surrogate pair in UTF-16");
                return 0;
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            i++;
        }
        length += put_utf8(code, to ? to + length : NULL);
    }
    return length;
}

static void read_utf16(reader *in, const gyre_layout *layout, uint64_t count, unsigned char *value)
{
    const uint8_t *units = reader_take(in, count * 2);
    uint64_t length = units ? from_utf16(in, units, count, NULL) : 0;
    unsigned char *items = new_items(in, layout->element, length, value);
    if (items)
        from_utf16(in, units, count, items);
}

static void read_utf8(reader *in, const gyre_layout *layout, uint64_t length, unsigned char *value)
{
    int32_t said = take_i32(in);
    const uint8_t *text = reader_take(in, length);
    int64_t units = 0;
    for (uint64_t at = 0, step; text && at < length; at += step) {
        step = gyre_text_character(text + at, (size_t)(length - at));
        if (step == 0) {
            in->at -= (size_t)(length - at);
            reader_fail(in, "the text is not UTF-8");
            return;
        }
        units += step == 4 ? 2 : 1;
    }
    if (text && said != units && said != -1) {
        in->at -= (size_t)length + 4;
        reader_fail(in, "not as many UTF-16 units as the text says");
    }
    unsigned char *items = new_items(in, layout->element, length, value);
    if (items && text)
        memcpy(items, text, (size_t)length);
}

/* Reads a text in either form, whatever the description says, because the sign of the count tells UTF-8 from UTF-16. */
static void read_text(reader *in, const gyre_layout *layout, int32_t count, unsigned char *value)
{
    if (count >= 0)
        read_utf16(in, layout, (uint64_t)count, value);
    else if (count != -1)
        read_utf8(in, layout, (uint64_t) ~(int64_t)count, value);
}

/* ---- values ---- */

static bool is_zero(const unsigned char *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static void read_flagged(reader *in, gyre_pack_options options, const gyre_layout *layout,
                         unsigned char *value)
{
    const gyre_layout *element = layout->element;
    uint64_t size = gyre_pack_fixed_size(in->wire, element);
    bool is_there = in->length - in->at < size || !is_zero(in->bytes + in->at, size);
    if (options.nullable != GYRE_PACK_NULLABLE_BARE) {
        unsigned flag = take_byte(in);
        if (flag > 1) {
            in->at--;
            reader_fail(in, "expected an optional value's flag, 0 or 1");
        }
        is_there = flag == 1;
    }
    if (options.nullable == GYRE_PACK_NULLABLE_PADDED)
        take_zeros(in, gyre_pack_alignment(element) - 1);
    if (!is_there) {
        take_zeros(in, size);
        return;
    }
    unsigned char *item = new_items(in, element, 1, value);
    if (item)
        read_value(in, options, element, item);
}

/* Reads an optional text or object, whose own first bytes tell that it is null. */
static void read_nullable(reader *in, gyre_pack_options options, const gyre_layout *layout,
                          unsigned char *value)
{
    size_t start = in->at;
    bool is_null = layout->element->element ? take_i32(in) == -1 : take_byte(in) == GYRE_PACK_NULL_OBJECT;
    if (in->problem || is_null)
        return;
    in->at = start;
    unsigned char *item = new_items(in, layout->element, 1, value);
    if (item)
        read_value(in, options, layout->element, item);
}

static void read_span(reader *in, gyre_pack_options options, const gyre_layout *layout, unsigned char *value)
{
    int32_t count = take_i32(in);
    if (in->problem || count == -1)
        return;
    if (count < 0 || (uint64_t)count > in->length - in->at) { /* each element takes a byte at least */
        in->at -= 4;
        reader_fail(in, "a collection's count is negative or too big");
        return;
    }
    unsigned char *items = new_items(in, layout->element, (uint64_t)count, value);
    for (uint64_t i = 0; items && i < (uint64_t)count && !in->problem; i++)
        read_value(in, options, layout->element, items + i * layout->element->size);
}

static void read_part(reader *in, gyre_pack_options options, const gyre_layout *layout, unsigned char *value)
{
    if (layout->shape == GYRE_SHAPE_UTF8)
        read_text(in, layout, take_i32(in), value);
    else if (layout->shape == GYRE_SHAPE_SPAN)
        read_span(in, options, layout, value);
    else if (gyre_pack_has_flag(in->wire, layout->element))
        read_flagged(in, options, layout, value);
    else
        read_nullable(in, options, layout, value);
}

static void read_record(reader *in, const gyre_layout *layout, unsigned char *value)
{
    gyre_pack_options options = gyre_pack_options_of(in->wire, layout);
    if (options.form == GYRE_PACK_STRUCT) {
        const uint8_t *bytes = reader_take(in, layout->size);
        if (bytes)
            memcpy(value, bytes, layout->size);
        return;
    }
    if (options.form == GYRE_PACK_OBJECT && take_byte(in) != layout->field_count && !in->problem) {
        in->at--;
        reader_fail(in, "an object of another number of members");
    }
    for (uint32_t i = 0; i < layout->field_count && !in->problem; i++) {
        const gyre_field *field = gyre_pack_field(in->wire, layout, i);
        in->field = field->name;
        for (uint64_t k = 0; k < field->count && !in->problem; k++)
            read_value(in, options, field->type, value + field->offset + k * field->type->size);
    }
}

static void read_value(reader *in, gyre_pack_options options, const gyre_layout *layout, unsigned char *value)
{
    const uint8_t *bytes;
    if (layout->element) {
        read_part(in, options, layout, value);
    } else if (layout->scalar != GYRE_SCALAR_NO || layout->shape == GYRE_SHAPE_ID128) {
        bytes = reader_take(in, layout->size);
        for (size_t i = 0; bytes && i < layout->size; i++)
            value[layout->shape == GYRE_SHAPE_ID128 ? gyre_pack_guid_place(options.guid, i) : i] = bytes[i];
    } else {
        read_record(in, layout, value);
    }
}

gyre_status gyre_pack_decode(const gyre_pack *wire, const gyre_layout *layout, const uint8_t *bytes,
                             size_t length, void *message)
{
    reader in = {.wire = wire,
                 .message = message,
                 .message_size = layout->size,
                 .bytes = bytes,
                 .length = length,
                 .field = ""};
    gyre_layout_clear_message(layout, message);
    read_value(&in, wire->defaults, layout, message);
    if (!in.problem && in.at != length)
        return gyre_error_set(GYRE_INVALID, "byte %zu of %zu: bytes are left over behind the message", in.at,
                              length);
    if (!in.problem)
        return GYRE_OK;
    if (!in.field[0]) /* the problem lies before the first field */
        return gyre_error_set(GYRE_INVALID, "byte %zu of %zu: %s", in.at, length, in.problem);
    return gyre_error_set(GYRE_INVALID, "byte %zu of %zu, field '%s': %s", in.at, length, in.field,
                          in.problem);
}
