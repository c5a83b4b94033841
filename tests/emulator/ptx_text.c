/* SPDX-License-Identifier: Apache-2.0 */
/* PTX to tokens. No locks, no memory: tokens point into the text, which must stay. */
#include "ptx_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

static const char *skip_comment(struct ptx_reader *reader, const char *at)
{
    if (at[1] == '/')
        return at + strcspn(at, "\n");
    for (at += 2; *at && !(at[0] == '*' && at[1] == '/'); at++)
        reader->line += *at == '\n';
    return *at ? at + 2 : at;
}

static void skip_blanks(struct ptx_reader *reader)
{
    const char *at = reader->at;
    for (;;) {
        if (*at == '\n')
            reader->line++;
        if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
            at++;
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            at = skip_comment(reader, at);
        else
            break;
    }
    reader->at = at;
}

/* A colon belongs to a word only as a pair of them: "shared::cta", but "label:". */
static const char *end_of_word(const char *at)
{
    for (;;) {
        if (begins_word(*at) || is_digit(*at))
            at++;
        else if (at[0] == ':' && at[1] == ':')
            at += 2;
        else
            return at;
    }
}

/* 0f3F800000 and 0d3FF0000000000000 are the bits of floating-point numbers. */
static const char *read_number(struct ptx_token *token, const char *at)
{
    char *end;
    if (at[0] == '0' && (at[1] == 'f' || at[1] == 'F' || at[1] == 'd' || at[1] == 'D')) {
        token->value = strtoull(at + 2, &end, 16);
        return end;
    }
    token->value = strtoull(at, &end, 0);
    return *end == 'U' ? end + 1 : end;
}

void ptx_next(struct ptx_reader *reader)
{
    struct ptx_token *token = &reader->now;
    skip_blanks(reader);
    const char *from = reader->at, *to = from;
    token->text = from;
    token->line = reader->line;
    if (reader->failed || !*from) {
        token->kind = PTX_END;
    } else if (begins_word(*from)) {
        token->kind = PTX_WORD;
        to = end_of_word(from);
    } else if (is_digit(*from)) {
        token->kind = PTX_NUMBER;
        to = read_number(token, from);
    } else if (*from == '"') {
        token->kind = PTX_STRING;
        to = from + 1 + strcspn(from + 1, "\"\n");
        to += *to == '"';
    } else {
        token->kind = PTX_MARK;
        to = from + 1;
    }
    token->length = (uint32_t)(to - from);
    reader->at = to;
}

void ptx_begin(struct ptx_reader *reader, const char *text, char *error, size_t error_size)
{
    *reader =
        (struct ptx_reader){.at = text, .line = 1, .begun = 1, .error = error, .error_size = error_size};
    ptx_next(reader);
}

bool ptx_fail(struct ptx_reader *reader, const char *format, ...)
{
    if (reader->failed)
        return false;
    int used = snprintf(reader->error, reader->error_size, "PTX, line %u: ", reader->begun);
    va_list args;
    va_start(args, format);
    if (used > 0 && (size_t)used < reader->error_size)
        vsnprintf(reader->error + used, reader->error_size - (size_t)used, format, args);
    va_end(args);
    reader->failed = true;
    reader->now.kind = PTX_END;
    return false;
}

bool ptx_token_is(const struct ptx_token *token, const char *text)
{
    return token->kind != PTX_END && strlen(text) == token->length &&
           memcmp(token->text, text, token->length) == 0;
}

bool ptx_is(const struct ptx_reader *reader, const char *text)
{
    return ptx_token_is(&reader->now, text);
}

bool ptx_take(struct ptx_reader *reader, const char *text)
{
    if (!ptx_is(reader, text))
        return false;
    ptx_next(reader);
    return true;
}

bool ptx_expect(struct ptx_reader *reader, const char *text)
{
    return ptx_take(reader, text) ||
           ptx_fail(reader, "expected '%s', found '%.*s'", text, (int)reader->now.length, reader->now.text);
}

uint64_t ptx_number(struct ptx_reader *reader)
{
    const bool negative = ptx_take(reader, "-");
    const uint64_t value = reader->now.value;
    if (reader->now.kind != PTX_NUMBER) {
        ptx_fail(reader, "expected a number, found '%.*s'", (int)reader->now.length, reader->now.text);
        return 0;
    }
    ptx_next(reader);
    return negative ? 0 - value : value;
}

char *ptx_name(struct ptx_reader *reader)
{
    char *name = reader->now.kind == PTX_WORD ? strndup(reader->now.text, reader->now.length) : NULL;
    if (!name)
        ptx_fail(reader, "expected a name, found '%.*s'", (int)reader->now.length, reader->now.text);
    ptx_next(reader);
    return name;
}

void ptx_skip_statement(struct ptx_reader *reader)
{
    while (reader->now.kind != PTX_END && !ptx_is(reader, ";"))
        ptx_next(reader);
    ptx_take(reader, ";");
}

void ptx_skip_line(struct ptx_reader *reader)
{
    const uint32_t line = reader->now.line;
    while (reader->now.kind != PTX_END && reader->now.line == line)
        ptx_next(reader);
}
