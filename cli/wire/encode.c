/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a message to its wire form (pack.h). After the first error later writes do nothing, and the offset stays where the
 * error was. No state.
 */
#include "cli/wire/encode.h"
#include "cli/wire/pack.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"

typedef struct writer {
    const gyre_pack *wire;
    const unsigned char *message; /* offsets of parts count from here */
    uint8_t *bytes;
    size_t room, at;
    const char *field, *problem;
} writer;

static void write_value(writer *out, gyre_pack_options options, const gyre_layout *layout,
                        const unsigned char *value);

static void writer_fail(writer *out, const char *problem)
{
    if (!out->problem)
        out->problem = problem;
}

static void writer_put(writer *out, const void *bytes, size_t size)
{
    if (size > out->room - out->at)
        writer_fail(out, "there is no more room for the encoded message");
    if (out->problem)
        return;
    memcpy(out->bytes + out->at, bytes, size);
    out->at += size;
}

static void put_byte(writer *out, unsigned byte)
{
    writer_put(out, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_zeros(writer *out, uint64_t count)
{
    while (count-- > 0 && !out->problem)
        put_byte(out, 0);
}

static void put_i32(writer *out, int64_t value)
{
    for (int i = 0; i < 4; i++)
        put_byte(out, (unsigned)((uint64_t)value >> 8 * i & 0xff));
}

/* ---- texts ---- */

static uint32_t code_point(const unsigned char *text, size_t length)
{
    if (length == 1)
        return text[0];
    uint32_t value = text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        value = value << 6 | (text[i] & 0x3fu);
    return value;
}

/* Counts the UTF-16 units of a text, and writes them when `writes` is true. */
static uint32_t each_unit(writer *out, const unsigned char *text, size_t length, bool writes)
{
    uint32_t units = 0;
    for (size_t at = 0, step; at < length && !out->problem; at += step) {
        step = gyre_text_character(text + at, length - at);
        if (step == 0) {
            writer_fail(out, "the text is not UTF-8");
            break;
        }
        uint32_t code = code_point(text + at, step);
        uint32_t first = code > 0xffff ? 0xd800 + ((code - 0x10000) >> 10) : code;
        units += code > 0xffff ? 2 : 1;
        if (!writes)
            continue;
        put_byte(out, first & 0xff);
        put_byte(out, first >> 8);
        if (code > 0xffff) {
            put_byte(out, (code - 0x10000) & 0xff);
            put_byte(out, 0xdc | ((code - 0x10000) >> 8 & 3));
        }
    }
    return units;
}

static void write_text(writer *out, gyre_pack_string form, const unsigned char *text, uint32_t length)
{
    uint32_t units = each_unit(out, text, length, false);
    if (length == 0) {
        put_i32(out, 0);
    } else if (form == GYRE_PACK_UTF16) {
        put_i32(out, units);
        each_unit(out, text, length, true);
    } else {
        put_i32(out, ~(int64_t)length);
        put_i32(out, units);
        writer_put(out, text, length);
    }
}

/* ---- values ---- */

static void write_optional(writer *out, gyre_pack_options options, const gyre_layout *element,
                           const unsigned char *item)
{
    if (!gyre_pack_has_flag(out->wire, element)) {
        if (item)
            write_value(out, options, element, item);
        else if (element->element)
            put_i32(out, -1);
        else
            put_byte(out, GYRE_PACK_NULL_OBJECT);
        return;
    }
    if (options.nullable != GYRE_PACK_NULLABLE_BARE)
        put_byte(out, item != NULL);
    if (options.nullable == GYRE_PACK_NULLABLE_PADDED)
        put_zeros(out, gyre_pack_alignment(element) - 1);
    if (item)
        write_value(out, options, element, item);
    else
        put_zeros(out, gyre_pack_fixed_size(out->wire, element));
}

static void write_part(writer *out, gyre_pack_options options, const gyre_layout *layout,
                       const unsigned char *value)
{
    gyre_part part;
    memcpy(&part, value, sizeof part);
    const unsigned char *items = out->message + (part.offset & ~GYRE_PART_FAR);
    if (gyre_is_far(part)) {
        writer_fail(out, "its items lie in a device buffer");
    } else if (layout->shape == GYRE_SHAPE_OPTIONAL) {
        write_optional(out, options, layout->element, part.count ? items : NULL);
    } else if (layout->shape == GYRE_SHAPE_UTF8) {
        write_text(out, options.string, items, part.count);
    } else {
        put_i32(out, part.count);
        for (uint32_t i = 0; i < part.count && !out->problem; i++)
            write_value(out, options, layout->element, items + i * layout->element->size);
    }
}

static void write_record(writer *out, const gyre_layout *layout, const unsigned char *value)
{
    gyre_pack_options options = gyre_pack_options_of(out->wire, layout);
    if (options.form == GYRE_PACK_STRUCT) {
        writer_put(out, value, layout->size);
        return;
    }
    if (options.form == GYRE_PACK_OBJECT)
        put_byte(out, layout->field_count);
    for (uint32_t i = 0; i < layout->field_count && !out->problem; i++) {
        const gyre_field *field = gyre_pack_field(out->wire, layout, i);
        out->field = field->name;
        for (uint64_t k = 0; k < field->count && !out->problem; k++)
            write_value(out, options, field->type, value + field->offset + k * field->type->size);
    }
}

/* Writes one value. `options` belong to the record around the value. */
static void write_value(writer *out, gyre_pack_options options, const gyre_layout *layout,
                        const unsigned char *value)
{
    if (layout->scalar != GYRE_SCALAR_NO)
        writer_put(out, value, layout->size);
    else if (layout->element)
        write_part(out, options, layout, value);
    else if (layout->shape == GYRE_SHAPE_ID128)
        for (size_t i = 0; i < 16; i++)
            put_byte(out, value[gyre_pack_guid_place(options.guid, i)]);
    else
        write_record(out, layout, value);
}

gyre_status gyre_pack_encode(const gyre_pack *wire, const gyre_layout *layout, const void *message,
                             uint8_t *bytes, size_t room, size_t *length)
{
    writer out = {.wire = wire, .message = message, .bytes = bytes, .room = room, .field = ""};
    write_value(&out, wire->defaults, layout, message);
    *length = out.at;
    if (!out.problem)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID, "byte %zu, field '%s': %s", out.at, out.field, out.problem);
}
