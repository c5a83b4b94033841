/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates array lengths: integer expressions as the preprocessor leaves them behind, "25", "(4 + 1) * 2", "1u << 4".
 * A recursive descent over C's precedences, with a depth limit because the text may come from a plugin.
 */
#include "core/types/expression.h"

#include <ctype.h>
#include <string.h>

enum { EXPRESSION_DEPTH_MAX = 64 };

typedef struct expression {
    gyre_span rest;
    const char *problem; /* the first problem; after it, parsing goes on without effect */
    unsigned depth;
} expression;

void gyre_span_skip_spaces(gyre_span *span)
{
    while (span->at < span->end && isspace((unsigned char)*span->at))
        span->at++;
}

gyre_span gyre_span_word(gyre_span *span)
{
    gyre_span_skip_spaces(span);
    const char *at = span->at;
    if (at < span->end && isdigit((unsigned char)*at))
        return (gyre_span){at, at};
    while (at < span->end && (isalnum((unsigned char)*at) || *at == '_'))
        at++;
    gyre_span word = {span->at, at};
    span->at = at;
    return word;
}

bool gyre_span_is(gyre_span span, const char *text)
{
    size_t length = (size_t)(span.end - span.at);
    return strlen(text) == length && memcmp(span.at, text, length) == 0;
}

static void expression_fail(expression *e, const char *problem)
{
    if (!e->problem)
        e->problem = problem;
}

/* Takes the operator `symbol` when it is next in the text; else takes nothing and returns false. */
static bool symbol_take(expression *e, const char *symbol)
{
    size_t length = strlen(symbol);
    gyre_span_skip_spaces(&e->rest);
    if ((size_t)(e->rest.end - e->rest.at) < length || memcmp(e->rest.at, symbol, length) != 0)
        return false;
    e->rest.at += length;
    return true;
}

static int digit_value(int character)
{
    if (isdigit(character))
        return character - '0';
    return isxdigit(character) ? tolower(character) - 'a' + 10 : 99;
}

static int literal_base(expression *e)
{
    if (symbol_take(e, "0x") || symbol_take(e, "0X"))
        return 16;
    if (symbol_take(e, "0b") || symbol_take(e, "0B"))
        return 2;
    return e->rest.at < e->rest.end && *e->rest.at == '0' ? 8 : 10;
}

static int64_t literal_value(expression *e)
{
    gyre_span_skip_spaces(&e->rest);
    if (e->rest.at == e->rest.end || !isdigit((unsigned char)*e->rest.at)) {
        expression_fail(e, "is not an integer literal expression (numbers, + - * / % << >> and parentheses)");
        return 0;
    }
    int base = literal_base(e), digits = 0;
    int64_t value = 0;
    for (; e->rest.at < e->rest.end && digit_value((unsigned char)*e->rest.at) < base; e->rest.at++, digits++)
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit_value((unsigned char)*e->rest.at), &value))
            expression_fail(e, "is too large");
    while (digits && e->rest.at < e->rest.end && strchr("uUlL", *e->rest.at))
        e->rest.at++;
    if (!digits || (e->rest.at < e->rest.end && (isalnum((unsigned char)*e->rest.at) || *e->rest.at == '.')))
        expression_fail(e, "holds a malformed number");
    return value;
}

static int64_t shift_value(expression *e);

static int64_t unary_value(expression *e)
{
    int64_t value = 0;
    if (++e->depth > EXPRESSION_DEPTH_MAX) {
        expression_fail(e, "is nested too deeply");
    } else if (symbol_take(e, "-")) {
        if (__builtin_sub_overflow((int64_t)0, unary_value(e), &value))
            expression_fail(e, "overflows");
    } else if (symbol_take(e, "+")) {
        value = unary_value(e);
    } else if (symbol_take(e, "(")) {
        value = shift_value(e);
        if (!symbol_take(e, ")"))
            expression_fail(e, "has a parenthesis that is not closed");
    } else {
        value = literal_value(e);
    }
    e->depth--;
    return value;
}

static int64_t divide_values(expression *e, int64_t a, int64_t b, bool remainder)
{
    if (b == 0) {
        expression_fail(e, "divides by zero");
        return 0;
    }
    if (a == INT64_MIN && b == -1) {
        expression_fail(e, "overflows");
        return 0;
    }
    return remainder ? a % b : a / b;
}

static int64_t product_value(expression *e)
{
    int64_t value = unary_value(e);
    while (!e->problem) {
        if (symbol_take(e, "*")) {
            if (__builtin_mul_overflow(value, unary_value(e), &value))
                expression_fail(e, "overflows");
        } else if (symbol_take(e, "/")) {
            value = divide_values(e, value, unary_value(e), false);
        } else if (symbol_take(e, "%")) {
            value = divide_values(e, value, unary_value(e), true);
        } else {
            break;
        }
    }
    return value;
}

static int64_t sum_value(expression *e)
{
    int64_t value = product_value(e);
    while (!e->problem) {
        bool overflow;
        if (symbol_take(e, "+"))
            overflow = __builtin_add_overflow(value, product_value(e), &value);
        else if (symbol_take(e, "-"))
            overflow = __builtin_sub_overflow(value, product_value(e), &value);
        else
            break;
        if (overflow)
            expression_fail(e, "overflows");
    }
    return value;
}

static int64_t shift_by(expression *e, int64_t value, int64_t bits, bool left)
{
    if (bits < 0 || bits > 62 || value < 0 || (left && value > (INT64_MAX >> bits))) {
        expression_fail(e, "shifts out of range");
        return 0;
    }
    return left ? value << bits : value >> bits;
}

static int64_t shift_value(expression *e)
{
    int64_t value = sum_value(e);
    while (!e->problem) {
        if (symbol_take(e, "<<"))
            value = shift_by(e, value, sum_value(e), true);
        else if (symbol_take(e, ">>"))
            value = shift_by(e, value, sum_value(e), false);
        else
            break;
    }
    return value;
}

const char *gyre_expression_evaluate(gyre_span text, int64_t *value)
{
    expression e = {.rest = text};
    *value = shift_value(&e);
    gyre_span_skip_spaces(&e.rest);
    if (!e.problem && e.rest.at != e.rest.end)
        expression_fail(&e,
                        "is not an integer literal expression (numbers, + - * / % << >> and parentheses)");
    return e.problem;
}
