/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the members of a JSON object that a parser has accepted already, so that only strings and brackets matter. */
#include "cli/cases/case_slice.h"

#include <string.h>

/* Behind the string that begins at `at`. */
static size_t skip_string(case_value object, size_t at)
{
    for (at++; at < object.length && object.text[at] != '"'; at++)
        at += object.text[at] == '\\';
    return at < object.length ? at + 1 : object.length;
}

static size_t skip_blanks(case_value object, size_t at)
{
    while (at < object.length && strchr(" \t\r\n,:", object.text[at]) && object.text[at])
        at++;
    return at;
}

/* Behind the value that begins at `at`. */
static size_t skip_value(case_value object, size_t at)
{
    size_t depth = 0;
    while (at < object.length) {
        const char letter = object.text[at];
        if (letter == '"') {
            at = skip_string(object, at);
            if (depth == 0)
                return at;
            continue;
        }
        if (depth == 0 && (letter == ',' || letter == '}' || letter == ']'))
            return at;
        depth += letter == '{' || letter == '[';
        depth -= letter == '}' || letter == ']';
        at++;
        if (depth == 0 && (letter == '}' || letter == ']'))
            return at;
    }
    return at;
}

bool case_slice(case_value object, const char *key, case_value *out)
{
    size_t at = 0;
    while (at < object.length && object.text[at] != '{')
        at++;
    for (at = skip_blanks(object, at + 1); at < object.length && object.text[at] == '"';) {
        const size_t name = at + 1, name_end = skip_string(object, at) - 1;
        const size_t value = skip_blanks(object, name_end + 1);
        size_t end = skip_value(object, value);
        at = skip_blanks(object, end);
        while (end > value && strchr(" \t\r\n", object.text[end - 1]))
            end--;
        if (name_end - name == strlen(key) && memcmp(object.text + name, key, strlen(key)) == 0) {
            *out = (case_value){object.text + value, end - value};
            return true;
        }
    }
    return false;
}
