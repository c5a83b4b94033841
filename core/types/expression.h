/* SPDX-License-Identifier: Apache-2.0 */
/* Reads words and array lengths from the text that GYRE_MESSAGE leaves of a struct. layout.c reads whole types. */
#ifndef GYRE_CORE_TYPES_EXPRESSION_H
#define GYRE_CORE_TYPES_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

/** A piece of text that is read from the front. */
typedef struct gyre_span {
    const char *at, *end;
} gyre_span;

void gyre_span_skip_spaces(gyre_span *span);
/** Takes the identifier at the front of the span, after spaces; returns an empty span when there is none. */
gyre_span gyre_span_word(gyre_span *span);
/** True when `span` is exactly `text`. */
bool gyre_span_is(gyre_span span, const char *text);

/**
 * Evaluates a whole span as an integer expression of literals (decimal, octal, hexadecimal, with u and l
 * suffixes), + - * / % << >> and parentheses. NULL when it worked, else what is wrong with it, as the end of
 * a sentence.
 */
const char *gyre_expression_evaluate(gyre_span text, int64_t *value);

#endif
