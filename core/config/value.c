/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the values of settings by type (value.h). Each type has a function that says only what is wrong; one place adds what
 * was expected. Numbers are read without strtoll, because strtoll accepts text that is no plain number (spaces, '+',
 * octal, "12abc").
 */
#include "core/config/value.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

enum number_verdict { NUMBER_OK, NUMBER_NONE, NUMBER_OVERFLOW };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads decimal digits with an optional '-'; *rest is the text behind them. */
static enum number_verdict read_digits(const char *text, int64_t *out, const char **rest)
{
    bool negative = *text == '-';
    int64_t number = 0;
    const char *at = text + negative;
    *rest = at;
    if (!is_digit(*at))
        return NUMBER_NONE;
    bool overflow = false;
    for (; is_digit(*at); at++)
        overflow |= __builtin_mul_overflow(number, 10, &number) ||
                    __builtin_sub_overflow(number, *at - '0', &number); /* downwards: INT64_MIN fits */
    *rest = at;
    if (!negative)
        overflow |= __builtin_sub_overflow(0, number, &number);
    *out = number;
    return overflow ? NUMBER_OVERFLOW : NUMBER_OK;
}

static gyre_status value_wrong(const struct gyre_config_row *row, const char *what)
{
    char expected[256];
    gyre_value_expected(row, expected, sizeof expected);
    return gyre_error_set(GYRE_CONFIG, "%s; expected %s", what, expected);
}

static gyre_status judge_number(const struct gyre_config_row *row, enum number_verdict verdict,
                                const char *rest, int64_t number)
{
    if (verdict == NUMBER_NONE || *rest)
        return value_wrong(row, row->type == GYRE_VALUE_SIZE ? "is not a size" : "is not a whole number");
    if (verdict == NUMBER_OVERFLOW)
        return value_wrong(row, "does not fit into 64 bits");
    if (number < row->min || number > row->max)
        return value_wrong(row, "is out of range");
    if (row->type == GYRE_VALUE_POWER && (number & (number - 1)))
        return value_wrong(row, "is not a power of two");
    return GYRE_OK;
}

static gyre_status read_integer(const struct gyre_config_row *row, const char *text, int64_t *out)
{
    const char *rest;
    enum number_verdict verdict = read_digits(text, out, &rest);
    return judge_number(row, verdict, rest, *out);
}

/* How many bits a unit such as "KiB" shifts a number by; -1 when the text is no unit. */
static int unit_shift(const char *unit)
{
    static const struct {
        const char *word;
        int shift;
    } units[] = {{"", 0},   {"B", 0},    {"K", 10},   {"M", 20},   {"G", 30},
                 {"T", 40}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].word) == 0)
            return units[i].shift;
    return -1;
}

static gyre_status read_size(const struct gyre_config_row *row, const char *text, int64_t *out)
{
    const char *rest;
    enum number_verdict verdict = read_digits(text, out, &rest);
    while (verdict != NUMBER_NONE && *rest == ' ')
        rest++;
    int shift = unit_shift(rest);
    if (shift < 0)
        return value_wrong(row, "is not a size");
    if (verdict == NUMBER_OK && __builtin_mul_overflow(*out, INT64_C(1) << shift, out))
        verdict = NUMBER_OVERFLOW;
    return judge_number(row, verdict, "", *out);
}

static gyre_status read_bool(const struct gyre_config_row *row, const char *text, int64_t *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = (int64_t)(i % 2);
            return GYRE_OK;
        }
    }
    return value_wrong(row, "is neither true nor false");
}

static size_t choice_count(const struct gyre_config_row *row)
{
    size_t count = 0;
    while (count < GYRE_CHOICES_MAX && row->choices[count])
        count++;
    return count;
}

static gyre_status read_choice(const struct gyre_config_row *row, const char *text, int64_t *out)
{
    for (size_t i = 0; i < choice_count(row); i++) {
        if (strcmp(text, row->choices[i]) == 0) {
            *out = (int64_t)i;
            return GYRE_OK;
        }
    }
    return value_wrong(row, "is no choice");
}

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

int gyre_value_is_name(const char *text)
{
    return *text && text[strspn(text, name_letters)] == '\0';
}

const char *gyre_value_hint(const char *text)
{
    return strstr(text, " #") || strstr(text, "\t#")
               ? " (behind a value ' ;' begins a comment, and '#' is part of the value)"
               : "";
}

static gyre_status read_name(const struct gyre_config_row *row, const char *text)
{
    bool may_be_empty = row->preset[0] == '\0';
    if (gyre_value_is_name(text) || (may_be_empty && !*text))
        return GYRE_OK;
    return value_wrong(row, *text ? "is not a name" : "is empty");
}

/* A name, or two with a colon in between. */
static gyre_status read_target(const struct gyre_config_row *row, const char *text)
{
    const size_t first = strcspn(text, ":");
    const char *const rest = text[first] ? text + first + 1 : NULL;
    if (!rest)
        return read_name(row, text);
    return first && strspn(text, name_letters) == first && gyre_value_is_name(rest)
               ? GYRE_OK
               : value_wrong(row, "is not two names");
}

/* The length of the name at `text`, without the white space behind it. *next is the text behind the comma; NULL: no comma
 * follows. */
static size_t name_length(const char *text, const char **next)
{
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    *next = comma ? comma + 1 : NULL;
    while (length > 0 && strchr(" \t", text[length - 1]))
        length--;
    return length;
}

static gyre_status read_names(const struct gyre_config_row *row, const char *text)
{
    const char *next = *text ? text : NULL;
    while (next) {
        const char *name = next + strspn(next, " \t");
        const size_t length = name_length(name, &next);
        if (length == 0)
            return value_wrong(row, "has an empty name");
        if (strspn(name, name_letters) < length)
            return value_wrong(row, "is not a list of names");
    }
    return GYRE_OK;
}

/* The names, separated by ", ". */
static const char *join_names(const char *text, struct gyre_pool *pool)
{
    char *names = gyre_pool_take(pool, 2 * strlen(text) + 1), *end = names;
    const char *next = *text ? text : NULL;
    while (names && next) {
        const char *name = next + strspn(next, " \t");
        const size_t length = name_length(name, &next);
        end = stpcpy(end, end > names ? ", " : "");
        memcpy(end, name, length);
        end += length;
    }
    if (names)
        *end = '\0';
    return names;
}

/* Reads one CPU number, or a range of two ascending numbers with '-' between. */
static bool read_cpu_range(const char **at)
{
    int64_t first, last;
    if (!is_digit(**at) || read_digits(*at, &first, at) != NUMBER_OK || first > 65535)
        return false;
    if (**at != '-')
        return true;
    ++*at;
    return is_digit(**at) && read_digits(*at, &last, at) == NUMBER_OK && last <= 65535 && first <= last;
}

static gyre_status read_cpus(const struct gyre_config_row *row, const char *text)
{
    const char *at = text;
    if (strcmp(text, "none") == 0 || strcmp(text, "spread") == 0)
        return GYRE_OK;
    while (read_cpu_range(&at)) {
        if (*at == '\0')
            return GYRE_OK;
        if (*at++ != ',')
            break;
    }
    return value_wrong(row, "is not a list of CPUs");
}

/* Writes the absolute form of one path and returns its end; see `room_for` for how much that takes. */
static char *write_path(char *out, const char *path, size_t length, const struct gyre_value_place *place)
{
    const char *before = "", *slash = "";
    if (place->home && path[0] == '~' && (length == 1 || path[1] == '/')) {
        before = place->home;
        path++;
        length--;
    } else if (path[0] != '/') {
        before = place->folder;
        slash = "/";
        for (; length > 2 && path[0] == '.' && path[1] == '/'; length -= 2)
            path += 2;
    }
    out = stpcpy(stpcpy(out, before), slash);
    memcpy(out, path, length);
    return out + length;
}

static size_t room_for(const char *text, const struct gyre_value_place *place)
{
    size_t longest = strlen(place->folder) + (place->home ? strlen(place->home) : 0) + 2, paths = 1;
    for (const char *at = text; *at; at++)
        paths += *at == ':';
    return strlen(text) + paths * longest + 1;
}

static const char *resolve_path(const char *text, const struct gyre_value_place *place,
                                struct gyre_pool *pool)
{
    char *path = gyre_pool_take(pool, room_for(text, place));
    if (path)
        *(*text ? write_path(path, text, strlen(text), place) : path) = '\0';
    return path;
}

/* Makes each path of a ':'-separated list absolute. Empty paths are left out. */
static const char *resolve_paths(const char *text, const struct gyre_value_place *place,
                                 struct gyre_pool *pool)
{
    char *paths = gyre_pool_take(pool, room_for(text, place)), *end = paths;
    if (!paths)
        return NULL;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ":");
        if (length > 0 && end > paths)
            *end++ = ':';
        if (length > 0)
            end = write_path(end, at, length, place);
        at += length + (at[length] == ':');
    }
    *end = '\0';
    return paths;
}

enum tilde { TILDE_NONE, TILDE_HOME, TILDE_OF_SOMEBODY };

/* Whether a path begins with "~" (the home folder), or with "~user", which Gyre does not resolve. */
static enum tilde find_tilde(const struct gyre_config_row *row, const char *text)
{
    enum tilde found = TILDE_NONE;
    bool list = row->type == GYRE_VALUE_PATHS;
    if (!list && row->type != GYRE_VALUE_PATH)
        return TILDE_NONE;
    for (const char *at = text; at; at = list ? strchr(at, ':') : NULL) {
        if (list && *at == ':')
            at++;
        if (at[0] != '~')
            continue;
        if (at[1] != '/' && at[1] != '\0' && !(list && at[1] == ':'))
            return TILDE_OF_SOMEBODY;
        found = TILDE_HOME;
    }
    return found;
}

static gyre_status read_text(const struct gyre_config_row *row, const char *text,
                             const struct gyre_value_place *place, struct gyre_pool *pool, const char **out)
{
    const enum tilde tilde = find_tilde(row, text);
    if (tilde == TILDE_OF_SOMEBODY)
        return value_wrong(row,
                           "begins with '~' and a name; '~/' is the home folder, './~' a file of that name");
    if (!place->home && tilde == TILDE_HOME)
        return value_wrong(row, "begins with '~', but HOME does not name an absolute home folder");
    if (row->type == GYRE_VALUE_PATH)
        *out = resolve_path(text, place, pool);
    else if (row->type == GYRE_VALUE_PATHS)
        *out = resolve_paths(text, place, pool);
    else if (row->type == GYRE_VALUE_NAMES)
        *out = join_names(text, pool);
    else
        *out = gyre_pool_copy(pool, text, strlen(text));
    if (pool->exhausted)
        return gyre_pool_no_memory();
    if (row->type == GYRE_VALUE_PATH && row->max && strlen(*out) > (size_t)row->max)
        return value_wrong(row, "is a path that is too long");
    return GYRE_OK;
}

gyre_status gyre_value_read(const struct gyre_config_row *row, const char *text,
                            const struct gyre_value_place *place, struct gyre_pool *pool,
                            struct gyre_value *out)
{
    gyre_status status = GYRE_OK;
    *out = (struct gyre_value){.text = NULL, .number = 0};
    switch (row->type) {
    case GYRE_VALUE_BOOL:
        status = read_bool(row, text, &out->number);
        break;
    case GYRE_VALUE_INT:
    case GYRE_VALUE_POWER:
    case GYRE_VALUE_MS:
        status = read_integer(row, text, &out->number);
        break;
    case GYRE_VALUE_SIZE:
        status = read_size(row, text, &out->number);
        break;
    case GYRE_VALUE_CHOICE:
        status = read_choice(row, text, &out->number);
        break;
    case GYRE_VALUE_NAME:
        status = read_name(row, text);
        break;
    case GYRE_VALUE_TARGET:
        status = read_target(row, text);
        break;
    case GYRE_VALUE_NAMES:
        status = read_names(row, text);
        break;
    case GYRE_VALUE_CPUS:
        status = read_cpus(row, text);
        break;
    case GYRE_VALUE_TEXT:
    case GYRE_VALUE_PATH:
    case GYRE_VALUE_PATHS:
        break;
    }
    return status == GYRE_OK ? read_text(row, text, place, pool, &out->text) : status;
}

static void expected_choice(const struct gyre_config_row *row, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "one of");
    for (size_t i = 0; i < choice_count(row) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", row->choices[i]);
}

void gyre_value_expected(const struct gyre_config_row *row, char *text, size_t size)
{
    static const char *const sentences[] = {
        [GYRE_VALUE_BOOL] = "true, yes, on, 1, false, no, off or 0",
        [GYRE_VALUE_TEXT] = "a text",
        [GYRE_VALUE_NAME] = "a name of letters, digits, '_', '-' and '.'",
        [GYRE_VALUE_NAMES] = "names of letters, digits, '_', '-' and '.', separated by commas",
        [GYRE_VALUE_TARGET] =
            "a name of letters, digits, '_', '-' and '.', or two of them with ':' in between",
        [GYRE_VALUE_PATH] = "a path",
        [GYRE_VALUE_PATHS] = "paths separated by ':'",
        [GYRE_VALUE_CPUS] = "none, spread, or CPU numbers and ranges such as 0,2-5",
    };
    static const char *const ranges[] = {
        [GYRE_VALUE_INT] = "a whole number",
        [GYRE_VALUE_POWER] = "a power of two",
        [GYRE_VALUE_SIZE] = "a size such as 65536, 64 KiB or 1 GiB,",
        [GYRE_VALUE_MS] = "milliseconds",
    };
    if (row->type == GYRE_VALUE_CHOICE)
        expected_choice(row, text, size);
    else if (row->type == GYRE_VALUE_POWER && row->min == 0)
        snprintf(text, size, "0 or %s from 1 to %" PRId64, ranges[row->type], row->max);
    else if (row->type == GYRE_VALUE_INT || row->type == GYRE_VALUE_POWER || row->type == GYRE_VALUE_SIZE ||
             row->type == GYRE_VALUE_MS)
        snprintf(text, size, "%s from %" PRId64 " to %" PRId64, ranges[row->type], row->min, row->max);
    else if (row->type == GYRE_VALUE_PATH && row->max)
        snprintf(text, size, "a path of at most %" PRId64 " bytes from / on", row->max);
    else
        snprintf(text, size, "%s", sentences[row->type]);
}
