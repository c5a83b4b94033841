/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the fields of a gyre_type. Its text is "f32 a[25];point corner;", one field a semicolon, and has each field's type
 * beside it. Only arrays whose lengths are plain numbers are understood: a message of another kind has no names here.
 */
#include "backends/cpu/check/cpu_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS_MAX = 4, DEPTH_MAX = 8 };

struct field {
    const char *name; /* not terminated */
    int name_length;
    const gyre_type *type;
    uint64_t offset, count;
    uint64_t dimensions[DIMENSIONS_MAX];
    int dimension_count;
};

struct sink {
    char *text;
    size_t size, used;
    bool cut;
};

__attribute__((format(printf, 2, 3))) static void put(struct sink *sink, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(sink->text + sink->used, sink->size - sink->used, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sink->size - sink->used)
        sink->cut = true;
    else
        sink->used += (size_t)length;
}

/* Reads "[25][4]" up to the semicolon. False when a length is no plain number above 0. */
static bool read_dimensions(const char **at, struct field *field)
{
    field->count = 1;
    field->dimension_count = 0;
    while (**at == '[') {
        char *end;
        const unsigned long long length = strtoull(*at + 1, &end, 10);
        end += strspn(end, "uUlL ");
        if (end == *at + 1 || *end != ']' || length == 0 || field->dimension_count == DIMENSIONS_MAX)
            return false;
        field->dimensions[field->dimension_count++] = length;
        field->count *= length;
        *at = end + 1 + strspn(end + 1, " ");
    }
    return **at == ';';
}

/*
 * Reads the next field of "TYPE NAME[N];". `*offset` is where the field before it ended. False at the end of the text, and
 * for a field that is not understood; *at tells the two apart.
 */
static bool next_field(const char **at, const gyre_type *type, uint64_t *offset, struct field *field)
{
    *at += strspn(*at, " ");
    if (!**at || !type || type->alignment == 0)
        return false;
    *at += strcspn(*at, " ");
    *at += strspn(*at, " ");
    field->name = *at;
    field->name_length = (int)strcspn(*at, " [;");
    *at += field->name_length;
    *at += strspn(*at, " ");
    if (!read_dimensions(at, field))
        return false;
    ++*at;
    field->type = type;
    field->offset = (*offset + type->alignment - 1) / type->alignment * type->alignment;
    *offset = field->offset + field->count * type->size;
    return true;
}

/* ---- one of several types ---- */

static const char CHOICE[] = "gyre_used gyre_used;u32 gyre_choice;";
enum { CHOICE_FIELDS = 2 };

const gyre_type *cpu_fields_chosen(const gyre_type *type, const void *request, uint64_t *skip)
{
    uint32_t number = 0, count = 0;
    *skip = 0;
    if (!type->field_types || strncmp(type->fields, CHOICE, sizeof CHOICE - 1) != 0)
        return type;
    memcpy(&number, (const unsigned char *)request + sizeof number, sizeof number);
    while (type->field_types[CHOICE_FIELDS + count])
        count++;
    if (number == 0 || number > count)
        return type;
    *skip = GYRE_CHOICE_FRONT;
    return type->field_types[CHOICE_FIELDS + number - 1];
}

/* ---- the name of a field ---- */

static void put_indices(struct sink *sink, const struct field *field, uint64_t index)
{
    uint64_t below = field->count;
    for (int i = 0; i < field->dimension_count; i++) {
        below /= field->dimensions[i];
        put(sink, "[%" PRIu64 "]", index / below);
        index %= below;
    }
}

/* Puts the name of the field at `offset` and returns its type, with *offset counted from there on; NULL: there is none. */
static const gyre_type *put_field(struct sink *sink, const gyre_type *type, uint64_t *offset)
{
    const char *at = type->fields;
    struct field field;
    uint64_t end = 0;
    for (uint32_t i = 0; next_field(&at, type->field_types[i], &end, &field); i++) {
        if (*offset < field.offset || *offset >= end)
            continue;
        const uint64_t index = (*offset - field.offset) / field.type->size;
        put(sink, "%s%.*s", sink->used ? "." : "", field.name_length, field.name);
        put_indices(sink, &field, index);
        *offset -= field.offset + index * field.type->size;
        return field.type;
    }
    return NULL;
}

bool cpu_fields_name(const gyre_type *type, uint64_t offset, char *text, size_t size)
{
    struct sink sink = {text, size, 0, false};
    if (size)
        text[0] = '\0';
    for (int depth = 0; type && type->field_types; depth++) {
        if (depth == DEPTH_MAX)
            return false;
        type = put_field(&sink, type, &offset);
    }
    return type && sink.used && !sink.cut;
}

/* ---- JSON ---- */

static bool put_number(struct sink *sink, double value, int digits)
{
    if (isfinite(value))
        put(sink, "%.*g", digits, value);
    else
        put(sink, "\"%s\"", isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return true;
}

#define PUT_INTEGER(name_, type_, format_)                                                                   \
    if (!strcmp(type->name, #name_)) {                                                                       \
        type_ value;                                                                                         \
        memcpy(&value, bytes, sizeof value);                                                                 \
        put(sink, "%" format_, value);                                                                       \
        return true;                                                                                         \
    }

static bool put_scalar(struct sink *sink, const gyre_type *type, const unsigned char *bytes)
{
    PUT_INTEGER(i8, int8_t, PRIi8)
    PUT_INTEGER(i16, int16_t, PRIi16)
    PUT_INTEGER(i32, int32_t, PRIi32)
    PUT_INTEGER(i64, int64_t, PRIi64)
    PUT_INTEGER(u8, uint8_t, PRIu8)
    PUT_INTEGER(u16, uint16_t, PRIu16)
    PUT_INTEGER(u32, uint32_t, PRIu32)
    PUT_INTEGER(u64, uint64_t, PRIu64)
    if (!strcmp(type->name, "f32")) {
        float value;
        memcpy(&value, bytes, sizeof value);
        return put_number(sink, (double)value, 9);
    }
    if (!strcmp(type->name, "f64")) {
        double value;
        memcpy(&value, bytes, sizeof value);
        return put_number(sink, value, 17);
    }
    return false;
}

static bool put_message(struct sink *sink, const gyre_type *type, const unsigned char *bytes, int depth);

static bool put_value(struct sink *sink, const gyre_type *type, const unsigned char *bytes, int depth)
{
    return type->field_types ? put_message(sink, type, bytes, depth + 1) : put_scalar(sink, type, bytes);
}

/* Puts the items of an array, dimension by dimension. */
static bool put_array(struct sink *sink, const struct field *field, const unsigned char *bytes, int depth)
{
    bool right = true;
    for (uint64_t i = 0; i < field->count && right && !sink->cut; i++) {
        uint64_t below = field->count;
        put(sink, "%s", i ? "," : "");
        for (int d = 0; d < field->dimension_count; below /= field->dimensions[d++])
            if (i % below == 0)
                put(sink, "[");
        right = put_value(sink, field->type, bytes + i * field->type->size, depth);
        below = 1;
        for (int d = field->dimension_count; d-- > 0;) {
            below *= field->dimensions[d];
            if ((i + 1) % below == 0)
                put(sink, "]");
        }
    }
    return right;
}

static bool put_fields(struct sink *sink, const gyre_type *type, const unsigned char *bytes, int depth,
                       const char *comma)
{
    const char *at = type->fields;
    struct field field;
    uint64_t end = 0;
    bool right = depth < DEPTH_MAX;
    for (uint32_t i = 0; right && next_field(&at, type->field_types[i], &end, &field); i++) {
        put(sink, "%s\"%.*s\":", i ? "," : comma, field.name_length, field.name);
        right = put_array(sink, &field, bytes + field.offset, depth);
    }
    return right && !*at;
}

static bool put_message(struct sink *sink, const gyre_type *type, const unsigned char *bytes, int depth)
{
    put(sink, "{");
    const bool right = put_fields(sink, type, bytes, depth, "");
    put(sink, "}");
    return right && !sink->cut;
}

bool cpu_fields_json(const gyre_type *type, const void *request, const void *message, char *text, size_t size)
{
    struct sink sink = {text, size, 0, false};
    uint64_t skip;
    const gyre_type *const chosen = cpu_fields_chosen(type, request, &skip);
    if (!chosen->field_types)
        return false;
    if (chosen == type)
        return put_message(&sink, type, message, 0);
    put(&sink, "{\"type\":\"%s\"", chosen->name);
    const bool right = put_fields(&sink, chosen, (const unsigned char *)message + skip, 0, ",");
    put(&sink, "}");
    return right && !sink.cut;
}
