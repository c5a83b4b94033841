/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over JSON documents, counting the values on the way (shrink_values.h). jansson bounds how deep documents are. */
#include "cli/cases/shrink_values.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json/message_json_reader.h"

/* A walk: what is done to values, or arrays, with the numbers [first, first + count). */
typedef struct value_walk {
    size_t first, count, seen;
    bool halves;    /* halve values, rather than clear them */
    bool of_arrays; /* cut arrays, rather than change values */
    bool changed;
} value_walk;

/* The smaller value; NULL when there is none. The caller owns it. */
static json_t *smaller(const json_t *value, bool halves)
{
    if (reader_is_number(value)) /* too large to be halved as an integer of jansson */
        return halves ? NULL : json_integer(0);
    if (json_is_string(value))
        return json_stringn(json_string_value(value), halves ? json_string_length(value) / 2 : 0);
    if (json_is_integer(value))
        return json_integer(halves ? json_integer_value(value) / 2 : 0);
    return json_real(halves ? json_real_value(value) / 2 : 0);
}

static bool is_empty(const json_t *value)
{
    if (json_is_string(value))
        return json_string_length(value) == 0;
    return !json_is_number(value) || !(json_number_value(value) < 0 || json_number_value(value) > 0);
}

/* Whether the walk is at a number that it wants. Counts. */
static bool is_next(value_walk *walk)
{
    const size_t number = walk->seen++;
    return number >= walk->first && number - walk->first < walk->count;
}

/* The value to put in the place of `value`; NULL: it stays. The caller owns it. */
static json_t *visit(value_walk *walk, json_t *value)
{
    const char *key;
    json_t *item, *changed;
    void *next;
    size_t index;
    if (json_is_object(value)) {
        json_object_foreach_safe(value, next, key, item)
        {
            if ((changed = visit(walk, item)))
                json_object_set_new(value, key, changed);
        }
        return NULL;
    }
    if (json_is_array(value)) {
        const size_t size = json_array_size(value);
        if (walk->of_arrays && size && is_next(walk))
            for (size_t left = size; left > size / 2; left--, walk->changed = true)
                json_array_remove(value, left - 1);
        json_array_foreach(value, index, item)
        {
            if ((changed = visit(walk, item)))
                json_array_set_new(value, index, changed);
        }
        return NULL;
    }
    if (walk->of_arrays || is_empty(value) || !is_next(walk))
        return NULL;
    changed = smaller(value, walk->halves);
    walk->changed = walk->changed || (changed && !json_equal(changed, value));
    return changed;
}

static value_walk walk_over(json_t *document, value_walk walk)
{
    json_decref(visit(&walk, document)); /* a document that is one value stays as it is */
    return walk;
}

size_t shrink_values_count(const json_t *document)
{
    return walk_over((json_t *)(uintptr_t)document, (value_walk){0}).seen;
}

void shrink_values_clear(json_t *document, size_t first, size_t count)
{
    walk_over(document, (value_walk){.first = first, .count = count});
}

bool shrink_values_halve(json_t *document, size_t which)
{
    return walk_over(document, (value_walk){.first = which, .count = 1, .halves = true}).changed;
}

size_t shrink_arrays_count(const json_t *document)
{
    return walk_over((json_t *)(uintptr_t)document, (value_walk){.of_arrays = true}).seen;
}

void shrink_arrays_cut(json_t *document, size_t which)
{
    walk_over(document, (value_walk){.first = which, .count = 1, .of_arrays = true});
}

/* Takes the quotes and the mark away that message_json_quote_numbers put around numbers. */
static void unquote_numbers(char *text)
{
    static const char mark[] = "\"" MESSAGE_JSON_NUMBER;
    char *to = text;
    for (const char *from = text; *from;) {
        if (strncmp(from, mark, sizeof mark - 1) != 0) {
            *to++ = *from++;
            continue;
        }
        from += sizeof mark - 1;
        while (*from && *from != '"')
            *to++ = *from++;
        from += *from == '"';
    }
    *to = '\0';
}

char *shrink_values_text(const json_t *document)
{
    char *text = json_dumps(document, JSON_PRESERVE_ORDER | JSON_COMPACT | JSON_ENCODE_ANY);
    if (text)
        unquote_numbers(text);
    return text;
}
