/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the text of a GYRE_WIRE (the description of a wire form): words with values, separated by spaces. Does not check that
 * the fields of an `order` exist; gyre_pack_check does. No state.
 */
#include "cli/wire/description.h"
#include "cli/wire/pack.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"

enum { VALUES_MAX = 3, WORD_ORDER = 4, WORD_COUNT };

/* The words and their values. The place of a value in its row is the value's number in the enum for the word. */
static const struct word_row {
    const char *word;
    const char *values[VALUES_MAX + 1];
} WORDS[] = {{"form", {"object", "packed", "struct"}},
             {"nullable", {"padded", "packed", "bare"}},
             {"string", {"utf8", "utf16"}},
             {"guid", {"dotnet", "plain"}}};

/* A description that is being read. Its record is added when the whole text is right. */
typedef struct parse_state {
    const char *type;
    bool seen[WORD_COUNT];
    unsigned values[WORD_ORDER];
    char **fields;
    size_t field_count;
} parse_state;

static gyre_status out_of_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "out of memory for a wire description");
}

static gyre_status unknown_word(const parse_state *parser, const char *word)
{
    static const char *const names[] = {"form", "nullable", "string", "guid", "order"};
    const char *nearest = gyre_text_nearest(word, names, WORD_COUNT);
    return gyre_error_set(GYRE_INVALID, "wire description of '%s': there is no word '%.60s'; %s%s%s",
                          parser->type, word,
                          nearest ? "did you mean '" : "expected form, nullable, string, guid or order",
                          nearest ? nearest : "", nearest ? "'?" : "");
}

static gyre_status wrong_value(const parse_state *parser, const struct word_row *row, const char *value)
{
    return gyre_error_set(GYRE_INVALID, "wire description of '%s': expected %s=%s%s%s%s%s, found '%.60s'",
                          parser->type, row->word, row->values[0], row->values[2] ? ", " : " or ",
                          row->values[1], row->values[2] ? " or " : "", row->values[2] ? row->values[2] : "",
                          value);
}

static gyre_status take_value(parse_state *parser, size_t word, const char *value)
{
    for (unsigned i = 0; WORDS[word].values[i]; i++)
        if (!strcmp(WORDS[word].values[i], value)) {
            parser->values[word] = i;
            return GYRE_OK;
        }
    return wrong_value(parser, &WORDS[word], value);
}

/* Splits a list such as "id,priority,a" into field names. Writes into `names`. */
static gyre_status take_order(parse_state *parser, char *names)
{
    char *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        char **more = realloc(parser->fields, (parser->field_count + 1) * sizeof *more);
        if (!more)
            return out_of_memory();
        parser->fields = more;
        more[parser->field_count] = strdup(name);
        if (!more[parser->field_count])
            return out_of_memory();
        parser->field_count++;
    }
    return parser->field_count
               ? GYRE_OK
               : gyre_error_set(GYRE_INVALID, "wire description of '%s': expected order=field,field,...",
                                parser->type);
}

static gyre_status take_word(parse_state *parser, char *word)
{
    char *value = strchr(word, '=');
    size_t number = 0;
    if (!value)
        return gyre_error_set(GYRE_INVALID, "wire description of '%s': expected word=value, found '%.60s'",
                              parser->type, word);
    *value++ = '\0';
    while (number < WORD_ORDER && strcmp(WORDS[number].word, word) != 0)
        number++;
    if (number == WORD_ORDER && strcmp(word, "order") != 0)
        return unknown_word(parser, word);
    if (parser->seen[number])
        return gyre_error_set(GYRE_INVALID, "wire description of '%s': '%s' stands there twice", parser->type,
                              word);
    parser->seen[number] = true;
    return number == WORD_ORDER ? take_order(parser, value) : take_value(parser, number, value);
}

static void free_fields(char **fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(fields[i]);
    free(fields);
}

static gyre_status add_record(gyre_pack *wire, const parse_state *parser)
{
    gyre_pack_record *more = realloc(wire->records, (wire->record_count + 1) * sizeof *more);
    char *type = strdup(parser->type);
    if (more)
        wire->records = more;
    if (!more || !type) {
        free(type);
        return out_of_memory();
    }
    const gyre_pack_options options = {
        (gyre_pack_form)parser->values[0], (gyre_pack_nullable)parser->values[1],
        (gyre_pack_string)parser->values[2], (gyre_pack_guid)parser->values[3]};
    gyre_pack_record *record = &wire->records[wire->record_count++];
    record->type = type;
    record->options = options;
    record->fields = parser->fields;
    record->field_count = parser->field_count;
    return GYRE_OK;
}

gyre_status gyre_pack_add(gyre_pack *wire, const char *type, const char *text)
{
    parse_state parser = {.type = type};
    char *rest = NULL, *words = strdup(text);
    gyre_status status = words ? GYRE_OK : out_of_memory();
    for (size_t i = 0; status == GYRE_OK && i < wire->record_count; i++)
        if (!strcmp(wire->records[i].type, type))
            status = gyre_error_set(GYRE_INVALID, "type '%s' has two wire descriptions", type);
    if (status == GYRE_OK)
        for (char *word = strtok_r(words, " \t", &rest); word && status == GYRE_OK;
             word = strtok_r(NULL, " \t", &rest))
            status = take_word(&parser, word);
    if (status == GYRE_OK)
        status = add_record(wire, &parser);
    if (status != GYRE_OK)
        free_fields(parser.fields, parser.field_count);
    free(words);
    return status;
}

void gyre_pack_finish(gyre_pack *wire)
{
    for (size_t i = 0; i < wire->record_count; i++) {
        free_fields(wire->records[i].fields, wire->records[i].field_count);
        free(wire->records[i].type);
    }
    free(wire->records);
    *wire = (gyre_pack){0};
}
