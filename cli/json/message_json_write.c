/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the bytes of a message to JSON. Does not use jansson, which holds no u64 and prints an f32 with seventeen digits. A
 * reply may hold anything, so every bit pattern has a text.
 */
#include "cli/json/message_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* Writes the value at `source`. Offsets of parts count from `message`. */
static void write_value(const gyre_layout *layout, const unsigned char *message, const unsigned char *source,
                        FILE *out);

/* Writes a float's digits with a point or an exponent, so that -0.0 keeps its sign in readers that have integers. */
static void write_digits(const char *digits, FILE *out)
{
    fputs(digits, out);
    if (!strpbrk(digits, ".e"))
        fputs(".0", out);
}

static bool write_special(double value, FILE *out)
{
    if (isfinite(value))
        return false;
    fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
    return true;
}

/* Writes the fewest digits that a reader turns into the same value, although the reader rounds to double first. */
static void write_f32(float value, FILE *out)
{
    static const int precisions[] = {6, 7, 8, 9, 17};
    char digits[40];
    if (write_special((double)value, out))
        return;
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
        snprintf(digits, sizeof digits, "%.*g", precisions[i], (double)value);
        if ((float)strtod(digits, NULL) == value)
            break;
    }
    write_digits(digits, out);
}

static void write_f64(double value, FILE *out)
{
    char digits[40];
    if (write_special(value, out))
        return;
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    write_digits(digits, out);
}

/* Loads an integer of `size` bytes, little-endian like every device that Gyre runs on. */
static uint64_t load_bits(const unsigned char *source, uint64_t size)
{
    uint64_t bits = 0;
    for (uint64_t i = 0; i < size; i++)
        bits |= (uint64_t)source[i] << (8 * i);
    return bits;
}

static void write_scalar(const gyre_layout *layout, const unsigned char *source, FILE *out)
{
    uint64_t bits = load_bits(source, layout->size);
    unsigned unused = (unsigned)(64 - 8 * layout->size) & 63;
    float narrow;
    double wide;
    switch (layout->scalar) {
    case GYRE_SCALAR_F32:
        memcpy(&narrow, source, sizeof narrow);
        write_f32(narrow, out);
        return;
    case GYRE_SCALAR_F64:
        memcpy(&wide, source, sizeof wide);
        write_f64(wide, out);
        return;
    case GYRE_SCALAR_I8:
    case GYRE_SCALAR_I16:
    case GYRE_SCALAR_I32:
    case GYRE_SCALAR_I64:
        fprintf(out, "%" PRId64, (int64_t)(bits << unused) >> unused);
        return;
    default:
        fprintf(out, "%" PRIu64, bits);
    }
}

static void write_array(const gyre_field *field, uint32_t dimension, const unsigned char *message,
                        const unsigned char *source, FILE *out)
{
    if (dimension == field->dimension_count) {
        write_value(field->type, message, source, out);
        return;
    }
    uint64_t stride = field->type->size;
    for (uint32_t d = dimension + 1; d < field->dimension_count; d++)
        stride *= field->dimensions[d];
    fputc('[', out);
    for (uint64_t i = 0; i < field->dimensions[dimension]; i++) {
        if (i)
            fputc(',', out);
        write_array(field, dimension + 1, message, source + i * stride, out);
    }
    fputc(']', out);
}

static void write_id128(const unsigned char *bytes, FILE *out)
{
    fputc('"', out);
    for (size_t i = 0; i < 16; i++)
        fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    fputc('"', out);
}

/* Writes the device buffer, the offset and the size of a part whose items lie in a buffer. */
static void write_far(const unsigned char *message, gyre_part part, FILE *out)
{
    gyre_far far;
    memcpy(&far, message + (part.offset & ~GYRE_PART_FAR), sizeof far);
    fprintf(out, "{\"buffer\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"size\":%" PRIu64 "}", far.handle.id,
            far.handle.offset, far.handle.size);
}

static void write_text(const unsigned char *text, size_t length, FILE *out)
{
    fputc('"', out);
    while (length > 0) {
        size_t step = gyre_text_character(text, length);
        if (step == 0)
            fputs("\xef\xbf\xbd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text < 0x20)
            fprintf(out, "\\u%04x", *text);
        else
            fwrite(text, 1, step, out);
        text += step ? step : 1;
        length -= step ? step : 1;
    }
    fputc('"', out);
}

static void write_part(const gyre_layout *layout, const unsigned char *message, const unsigned char *source,
                       FILE *out)
{
    gyre_part part;
    memcpy(&part, source, sizeof part);
    const unsigned char *items = message + (part.offset & ~GYRE_PART_FAR);
    if (gyre_is_far(part)) {
        write_far(message, part, out);
    } else if (layout->shape == GYRE_SHAPE_UTF8) {
        write_text(items, part.count, out);
    } else if (layout->shape == GYRE_SHAPE_OPTIONAL) {
        if (part.count)
            write_value(layout->element, message, items, out);
        else
            fputs("null", out);
    } else {
        fputc('[', out);
        for (uint32_t i = 0; i < part.count; i++) {
            if (i)
                fputc(',', out);
            write_value(layout->element, message, items + i * layout->element->size, out);
        }
        fputc(']', out);
    }
}

static void write_fields(const gyre_layout *layout, const unsigned char *message, const unsigned char *source,
                         FILE *out)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        fprintf(out, "%s\"%s\":", i ? "," : "", layout->fields[i].name);
        write_array(&layout->fields[i], 0, message, source + layout->fields[i].offset, out);
    }
}

static void write_record(const gyre_layout *layout, const unsigned char *message, const unsigned char *source,
                         FILE *out)
{
    fputc('{', out);
    write_fields(layout, message, source, out);
    fputc('}', out);
}

/* Writes a message of a protocol. The caller has checked its number; an unknown number is shown as the first type. */
static void write_choice(const gyre_layout *layout, const unsigned char *message, FILE *out)
{
    uint32_t number;
    memcpy(&number, message + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
    const gyre_layout *choice = layout->choices[number && number <= layout->choice_count ? number - 1 : 0];
    const unsigned char *inner = message + GYRE_CHOICE_FRONT;
    if (gyre_layout_field(choice, MESSAGE_JSON_TYPE)) {
        fprintf(out, "{\"%s\":", choice->name);
        write_record(choice, inner, inner, out);
        fputc('}', out);
        return;
    }
    fprintf(out, "{\"" MESSAGE_JSON_TYPE "\":\"%s\"%s", choice->name, choice->field_count ? "," : "");
    write_fields(choice, inner, inner, out);
    fputc('}', out);
}

static void write_packet(const unsigned char *message, FILE *out)
{
    uint32_t used;
    memcpy(&used, message, sizeof used);
    message_json_write_hex(message + GYRE_PACKET_FRONT,
                           used < GYRE_PACKET_FRONT ? 0 : used - GYRE_PACKET_FRONT, out);
}

static void write_value(const gyre_layout *layout, const unsigned char *message, const unsigned char *source,
                        FILE *out)
{
    if (layout->shape == GYRE_SHAPE_CHOICE)
        write_choice(layout, message, out);
    else if (layout->shape == GYRE_SHAPE_PACKET)
        write_packet(message, out);
    else if (layout->scalar == GYRE_SCALAR_NOTHING)
        fputs("null", out);
    else if (layout->scalar != GYRE_SCALAR_NO)
        write_scalar(layout, source, out);
    else if (layout->element)
        write_part(layout, message, source, out);
    else if (layout->shape == GYRE_SHAPE_ID128)
        write_id128(source, out);
    else
        write_record(layout, message, source, out);
}

void message_json_write_hex(const unsigned char *bytes, size_t length, FILE *out)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++)
        fprintf(out, "%02x", bytes[i]);
    fputc('"', out);
}

void message_json_write(const gyre_layout *layout, const void *message, FILE *out)
{
    write_value(layout, message, message, out);
}

void message_json_write_field(const gyre_field *field, const void *message, FILE *out)
{
    write_array(field, 0, message, (const unsigned char *)message + field->offset, out);
}

void message_json_write_text(const char *text, FILE *out)
{
    write_text((const unsigned char *)text, strlen(text), out);
}
