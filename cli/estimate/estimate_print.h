/* SPDX-License-Identifier: Apache-2.0 */
/* Tells people and programs what `gyre estimate` found. No state. */
#ifndef GYRE_CLI_ESTIMATE_ESTIMATE_PRINT_H
#define GYRE_CLI_ESTIMATE_ESTIMATE_PRINT_H

#include <stdbool.h>

#include "cli/estimate/advice.h"
#include "cli/estimate/trial.h"

typedef struct estimate_report {
    model_handler handler;
    model_result result;
    const trial_result *trial;
    const trial_code *code;
    bool made; /* the requests were made of random fields */
    advice advice[ADVICE_MOST];
    size_t advice_count;
} estimate_report;

/** Print it; return an exit code. */
int estimate_print_text(const estimate_report *estimate);
int estimate_print_json(const estimate_report *estimate);

#endif
