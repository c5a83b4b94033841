/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites integers that jansson would round or refuse as marked strings, because jansson has only int64 and double. Finds
 * these integers outside the strings of the text. Does not judge the JSON: a malformed text stays malformed.
 */
#include "cli/json/message_json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_ALWAYS_FIT = 18,                      /* digits that fit every signed 64-bit integer */
    ADDED_BEFORE = 1 + MESSAGE_JSON_NUMBER_SIZE, /* quote and mark */
    ADDED = ADDED_BEFORE + 1
};

static size_t skip_string(const char *text, size_t length, size_t at)
{
    for (at++; at < length && text[at] != '"'; at++)
        at += text[at] == '\\' && at + 1 < length;
    return at < length ? at + 1 : length;
}

static size_t skip_number(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] && (isalnum((unsigned char)text[at]) || strchr("+-.", text[at])))
        at++;
    return at;
}

/* True for a well-formed integer of more digits than always fit, and for "-0". */
static bool must_be_quoted(const char *number, size_t length)
{
    size_t sign = length > 0 && number[0] == '-', digits = length - sign;
    if (sign && digits == 1 && number[1] == '0')
        return true;
    if (digits <= DIGITS_ALWAYS_FIT || number[sign] == '0')
        return false;
    for (size_t i = sign; i < length; i++)
        if (!isdigit((unsigned char)number[i]))
            return false;
    return true;
}

/* Finds the next number to quote at or after *end; false when there is none. */
static bool find_number(const char *text, size_t length, size_t *start, size_t *end)
{
    size_t at = *end;
    while (at < length) {
        if (text[at] == '"') {
            at = skip_string(text, length, at);
        } else if (isalnum((unsigned char)text[at]) || text[at] == '-') {
            *start = at;
            *end = at = skip_number(text, length, at);
            if (must_be_quoted(text + *start, *end - *start))
                return true;
        } else {
            at++;
        }
    }
    return false;
}

char *message_json_quote_numbers(const char *text, size_t length, size_t *quoted_length)
{
    size_t start = 0, end = 0, count = 0, from = 0;
    while (find_number(text, length, &start, &end))
        count++;
    char *quoted = malloc(length + count * ADDED + 1), *to = quoted;
    if (!quoted)
        return NULL;
    for (end = 0; find_number(text, length, &start, &end); from = end) {
        memcpy(to, text + from, start - from);
        to += start - from;
        memcpy(to, "\"" MESSAGE_JSON_NUMBER, ADDED_BEFORE);
        to += ADDED_BEFORE;
        memcpy(to, text + start, end - start);
        to += end - start;
        *to++ = '"';
    }
    memcpy(to, text + from, length - from);
    to += length - from;
    *to = '\0';
    *quoted_length = (size_t)(to - quoted);
    return quoted;
}

size_t message_json_unquoted_offset(const char *text, size_t length, size_t offset)
{
    size_t start = 0, end = 0, added = 0;
    while (find_number(text, length, &start, &end)) {
        if (offset <= start + added)
            break;
        added += ADDED;
    }
    return offset > added ? offset - added : 0;
}
