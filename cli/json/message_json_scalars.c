/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts JSON to numbers, bytes and ids in a message, and words the error for a wrong value, with the path of its field. No
 * state.
 */
#include "cli/json/json.h"
#include "cli/json/message_json_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

enum { FOUND_SIZE = 120 };

/* ---- sentences ---- */

size_t reader_enter(json_reader *reader, const char *format, ...)
{
    size_t before = reader->path_length, used = before < JSON_PATH_SIZE ? before : JSON_PATH_SIZE - 1;
    va_list args;
    va_start(args, format);
    int added = vsnprintf(reader->path + used, JSON_PATH_SIZE - used, format, args);
    va_end(args);
    reader->path_length = before + (added > 0 ? (size_t)added : 0);
    return before;
}

void reader_leave(json_reader *reader, size_t before)
{
    reader->path_length = before;
    if (before < JSON_PATH_SIZE)
        reader->path[before] = '\0';
}

bool reader_is_number(const json_t *value)
{
    return json_is_string(value) &&
           strncmp(json_string_value(value), MESSAGE_JSON_NUMBER, MESSAGE_JSON_NUMBER_SIZE) == 0;
}

bool reader_holds_nul(const json_t *value)
{
    return json_is_string(value) && strlen(json_string_value(value)) != json_string_length(value);
}

/* Words for a value, behind "found" in a sentence. */
static const char *describe_value(const json_t *value, char *text)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        snprintf(text, FOUND_SIZE, "an array of %zu", json_array_size(value));
        return text;
    case JSON_STRING:
        if (reader_is_number(value))
            snprintf(text, FOUND_SIZE, "%.60s", json_string_value(value) + MESSAGE_JSON_NUMBER_SIZE);
        else
            snprintf(text, FOUND_SIZE, "the text \"%.60s\"", json_string_value(value));
        return text;
    case JSON_INTEGER:
        snprintf(text, FOUND_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return text;
    case JSON_REAL:
        snprintf(text, FOUND_SIZE, "%#.17g", json_real_value(value));
        return text;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return "null";
    }
}

gyre_status reader_refuse(const json_reader *reader, const char *expected, const json_t *value)
{
    char found[FOUND_SIZE];
    if (!reader->path_length)
        return gyre_error_set(GYRE_INVALID, "expected %s, found %s", expected, describe_value(value, found));
    return gyre_error_set(GYRE_INVALID, "field '%s': expected %s, found %s", reader->path, expected,
                          describe_value(value, found));
}

/* ---- numbers ---- */

static const struct integer_range {
    const char *words;
    int64_t min;
    uint64_t max;
    size_t size;
} RANGES[] = {
    [GYRE_SCALAR_I8] = {"an integer from -128 to 127 (i8)", INT8_MIN, INT8_MAX, 1},
    [GYRE_SCALAR_I16] = {"an integer from -32768 to 32767 (i16)", INT16_MIN, INT16_MAX, 2},
    [GYRE_SCALAR_I32] = {"an integer from -2147483648 to 2147483647 (i32)", INT32_MIN, INT32_MAX, 4},
    [GYRE_SCALAR_I64] = {"an integer from -9223372036854775808 to 9223372036854775807 (i64)", INT64_MIN,
                         INT64_MAX, 8},
    [GYRE_SCALAR_U8] = {"an integer from 0 to 255 (u8)", 0, UINT8_MAX, 1},
    [GYRE_SCALAR_U16] = {"an integer from 0 to 65535 (u16)", 0, UINT16_MAX, 2},
    [GYRE_SCALAR_U32] = {"an integer from 0 to 4294967295 (u32)", 0, UINT32_MAX, 4},
    [GYRE_SCALAR_U64] = {"an integer from 0 to 18446744073709551615 (u64)", 0, UINT64_MAX, 8},
};

/* An integer of either sign: `magnitude` holds the two's complement of a negative one. */
typedef struct integer {
    bool negative;
    uint64_t bits;
} integer;

static bool parse_digits(const char *text, integer *out)
{
    size_t sign = text[0] == '-';
    char *end;
    if (!text[sign] || strspn(text + sign, "0123456789") != strlen(text + sign))
        return false;
    errno = 0;
    *out = (integer){sign && strcmp(text, "-0") != 0, 0};
    out->bits = sign ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    return errno == 0;
}

static bool to_integer(const json_t *value, gyre_scalar scalar, integer *out)
{
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        *out = (integer){number < 0, (uint64_t)number};
        return true;
    }
    if (reader_is_number(value))
        return parse_digits(json_string_value(value) + MESSAGE_JSON_NUMBER_SIZE, out);
    bool wide = scalar == GYRE_SCALAR_I64 || scalar == GYRE_SCALAR_U64;
    return wide && json_is_string(value) && parse_digits(json_string_value(value), out);
}

gyre_status reader_integer(const json_reader *reader, gyre_scalar scalar, const json_t *value, void *target)
{
    const struct integer_range *range = &RANGES[scalar];
    integer number;
    if (!to_integer(value, scalar, &number) ||
        (number.negative ? (int64_t)number.bits < range->min : number.bits > range->max))
        return reader_refuse(reader, range->words, value);
    uint8_t byte = (uint8_t)number.bits;
    uint16_t half = (uint16_t)number.bits;
    uint32_t word = (uint32_t)number.bits;
    const void *source = range->size == 1   ? (const void *)&byte
                         : range->size == 2 ? (const void *)&half
                         : range->size == 4 ? (const void *)&word
                                            : (const void *)&number.bits;
    memcpy(target, source, range->size);
    return GYRE_OK;
}

/* Reads a float. NaN and infinities have to be given by their names. */
static bool to_real(const json_t *value, double *out)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return true;
    }
    if (!json_is_string(value))
        return false;
    const char *text = json_string_value(value);
    if (reader_is_number(value)) {
        *out = strtod(text + MESSAGE_JSON_NUMBER_SIZE, NULL);
        return isfinite(*out);
    }
    if (strcmp(text, "NaN") == 0)
        *out = (double)NAN;
    else if (strcmp(text, "Infinity") == 0)
        *out = HUGE_VAL;
    else if (strcmp(text, "-Infinity") == 0)
        *out = -HUGE_VAL;
    else
        return false;
    return true;
}

gyre_status reader_real(const json_reader *reader, gyre_scalar scalar, const json_t *value, void *target)
{
    double wide;
    bool is_number = to_real(value, &wide);
    if (is_number && scalar == GYRE_SCALAR_F64) {
        memcpy(target, &wide, sizeof wide);
        return GYRE_OK;
    }
    float narrow = is_number ? (float)wide : 0;
    if (!is_number || (isinf(narrow) && isfinite(wide)))
        return reader_refuse(reader,
                             scalar == GYRE_SCALAR_F64
                                 ? "a number up to 1.8e308, \"NaN\", \"Infinity\" or \"-Infinity\" (f64)"
                                 : "a number up to 3.4e38, \"NaN\", \"Infinity\" or \"-Infinity\" (f32)",
                             value);
    memcpy(target, &narrow, sizeof narrow);
    return GYRE_OK;
}

/* ---- texts ---- */

gyre_status reader_bytes(const json_reader *reader, const json_t *value, uint64_t size, void *target)
{
    if (json_string_length(value) > size) {
        char expected[80];
        snprintf(expected, sizeof expected, "a text of at most %" PRIu64 " bytes", size);
        return reader_refuse(reader, expected, value);
    }
    memcpy(target, json_string_value(value), json_string_length(value));
    return GYRE_OK;
}

int reader_hex_digit(char character)
{
    const char *digits = "0123456789abcdef", *found = strchr(digits, character | 0x20);
    return character && found ? (int)(found - digits) : -1;
}

gyre_status reader_id128(const json_reader *reader, const json_t *value, unsigned char *target)
{
    static const char FORM[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    bool fits = strlen(text) == sizeof FORM - 1;
    size_t digits = 0;
    for (size_t i = 0; fits && i < sizeof FORM - 1; i++) {
        int digit = reader_hex_digit(text[i]);
        fits = FORM[i] == '-' ? text[i] == '-' : digit >= 0;
        if (fits && digit >= 0) {
            target[digits / 2] = (unsigned char)(target[digits / 2] << 4 | digit);
            digits++;
        }
    }
    return fits ? GYRE_OK
                : reader_refuse(reader, "an id like \"00112233-4455-6677-8899-aabbccddeeff\" (id128)", value);
}
