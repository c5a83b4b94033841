/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of a handler that would help most, each with its line and what it would save. No state. */
#ifndef GYRE_CLI_ESTIMATE_ADVICE_H
#define GYRE_CLI_ESTIMATE_ADVICE_H

#include <stddef.h>

#include "cli/estimate/model.h"

enum { ADVICE_MOST = 3, ADVICE_TEXT_SIZE = 400 };

typedef struct advice {
    const code_line *line; /* NULL: it is about the messages or the launch */
    const char *kind;      /* "memory", "divergence", ...: model_part_word */
    double saved_ns;       /* of a message's time in its block */
    char text[ADVICE_TEXT_SIZE];
} advice;

/** Writes at most ADVICE_MOST pieces of advice, the best first. Returns how many. */
size_t advice_make(const model_handler *handler, const model_result *result, advice *out);

#endif
