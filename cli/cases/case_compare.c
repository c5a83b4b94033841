/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two messages by their JSON, because parts of a message may differ in length. The layout walks along, so that floats
 * are compared as the type that they have.
 */
#include "cli/cases/case_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/message_json_reader.h"

enum { SHOWN_MAX = 8, VALUE_SIZE = 160 };

typedef struct comparison {
    const case_compare_desc *desc;
    json_reader path; /* for its path only */
    uint64_t count;
} comparison;

static void compare_values(comparison *run, const gyre_layout *type, uint32_t dimensions,
                           const json_t *expected, const json_t *found);

/* ---- numbers ---- */

/* The text of a value, cut where it does not fit. Returns `text`. */
static const char *value_text(const gyre_layout *type, const json_t *value, char text[VALUE_SIZE])
{
    if (!value) {
        snprintf(text, VALUE_SIZE, "nothing");
    } else if (reader_is_number(value)) {
        snprintf(text, VALUE_SIZE, "%s", json_string_value(value) + MESSAGE_JSON_NUMBER_SIZE);
    } else if (json_is_real(value)) {
        snprintf(text, VALUE_SIZE, type && type->scalar == GYRE_SCALAR_F32 ? "%.9g" : "%.17g",
                 json_real_value(value));
    } else {
        char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        snprintf(text, VALUE_SIZE, "%s", dumped ? dumped : "a value");
        free(dumped);
    }
    return text;
}

/* The bits of a float, mapped so that neighbours differ by one. */
static bool float_place(const gyre_layout *type, const json_t *value, int64_t *place)
{
    double wide = 0;
    if (json_is_number(value))
        wide = json_number_value(value);
    else if (reader_is_number(value))
        wide = strtod(json_string_value(value) + MESSAGE_JSON_NUMBER_SIZE, NULL);
    else
        return false;
    if (type->scalar == GYRE_SCALAR_F32) {
        const float narrow = (float)wide;
        int32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        *place = bits < 0 ? (int64_t)INT32_MIN - bits : bits;
    } else {
        memcpy(place, &wide, sizeof wide);
        *place = *place < 0 ? INT64_MIN - *place : *place;
    }
    return true;
}

/* How many steps lie between two floats. False when the values are not floats, or not finite. */
static bool float_distance(const gyre_layout *type, const json_t *expected, const json_t *found,
                           uint64_t *distance)
{
    int64_t one, other;
    if (!type || (type->scalar != GYRE_SCALAR_F32 && type->scalar != GYRE_SCALAR_F64) ||
        !float_place(type, expected, &one) || !float_place(type, found, &other))
        return false;
    *distance = one > other ? (uint64_t)one - (uint64_t)other : (uint64_t)other - (uint64_t)one;
    return true;
}

/* ---- the walk ---- */

static void tell_difference(comparison *run, const gyre_layout *type, const json_t *expected,
                            const json_t *found)
{
    char one[VALUE_SIZE], other[VALUE_SIZE];
    uint64_t distance = 0;
    if (run->count++ >= SHOWN_MAX)
        return;
    const char *path = run->path.path[0] ? run->path.path : "the reply";
    fprintf(run->desc->out, "%s: %s: expected %s, found %s", run->desc->place, path,
            value_text(type, expected, one), value_text(type, found, other));
    if (float_distance(type, expected, found, &distance) && distance)
        fprintf(run->desc->out, " (%" PRIu64 " ulp apart)", distance);
    fputc('\n', run->desc->out);
}

static void compare_leaves(comparison *run, const gyre_layout *type, const json_t *expected,
                           const json_t *found)
{
    uint64_t distance;
    const bool zeros_differ = json_is_real(expected) && json_is_real(found) && !run->desc->ulps &&
                              signbit(json_real_value(expected)) != signbit(json_real_value(found));
    if (json_equal(expected, found) && !zeros_differ)
        return;
    if (run->desc->ulps && float_distance(type, expected, found, &distance) && distance <= run->desc->ulps)
        return;
    tell_difference(run, type, expected, found);
}

static void compare_arrays(comparison *run, const gyre_layout *type, uint32_t dimensions,
                           const json_t *expected, const json_t *found)
{
    const size_t count = json_array_size(expected), there = json_array_size(found);
    const gyre_layout *item = dimensions || !type || !type->element ? type : type->element;
    for (size_t i = 0; i < count && i < there; i++) {
        const size_t before = reader_enter(&run->path, "[%zu]", i);
        compare_values(run, item, dimensions ? dimensions - 1 : 0, json_array_get(expected, i),
                       json_array_get(found, i));
        reader_leave(&run->path, before);
    }
    if (count == there || run->count++ >= SHOWN_MAX)
        return;
    fprintf(run->desc->out, "%s: %s: expected %zu items, found %zu\n", run->desc->place, run->path.path,
            count, there);
}

static void compare_objects(comparison *run, const gyre_layout *type, const json_t *expected,
                            const json_t *found)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)expected, key, value)
    {
        const gyre_field *field = type ? gyre_layout_field(type, key) : NULL;
        const size_t before = reader_enter(&run->path, "%s%s", run->path.path_length ? "." : "", key);
        compare_values(run, field ? field->type : NULL, field ? field->dimension_count : 0, value,
                       json_object_get(found, key));
        reader_leave(&run->path, before);
    }
    json_object_foreach((json_t *)(uintptr_t)found, key, value)
    {
        if (json_object_get(expected, key))
            continue;
        const size_t before = reader_enter(&run->path, "%s%s", run->path.path_length ? "." : "", key);
        tell_difference(run, NULL, NULL, value);
        reader_leave(&run->path, before);
    }
}

static void compare_values(comparison *run, const gyre_layout *type, uint32_t dimensions,
                           const json_t *expected, const json_t *found)
{
    if (type && type->shape == GYRE_SHAPE_OPTIONAL && dimensions == 0)
        type = type->element;
    if (json_is_array(expected) && json_is_array(found))
        compare_arrays(run, type, dimensions, expected, found);
    else if (json_is_object(expected) && json_is_object(found))
        compare_objects(run, type, expected, found);
    else
        compare_leaves(run, type, expected, found);
}

/* Parses what message_json_write wrote. NULL only without memory. */
static json_t *parse(const char *text)
{
    size_t length;
    char *quoted = message_json_quote_numbers(text, strlen(text), &length);
    json_t *value = quoted ? json_loadb(quoted, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    free(quoted);
    return value;
}

uint64_t case_compare(const case_compare_desc *desc, const char *expected, const char *found)
{
    comparison run = {.desc = desc};
    if (strcmp(expected, found) == 0)
        return 0;
    json_t *one = parse(expected), *other = parse(found);
    if (one && other) {
        compare_values(&run, desc->layout, 0, one, other);
    } else {
        fprintf(desc->out, "%s: expected %.200s, found %.200s\n", desc->place, expected, found);
        run.count = 1;
    }
    json_decref(one);
    json_decref(other);
    if (run.count > SHOWN_MAX)
        fprintf(desc->out, "%s: and %" PRIu64 " more differences\n", desc->place, run.count - SHOWN_MAX);
    return run.count;
}
