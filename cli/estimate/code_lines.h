/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of a handler costs a GPU, line by line: the instructions of a kernel file that was compiled for the check
 * `traffic`, as objdump prints them, weighed as the instructions that a GPU needs for the same, times how often they ran.
 * x86-64 only; for other processors each instruction weighs 1. No state.
 */
#ifndef GYRE_CLI_ESTIMATE_CODE_LINES_H
#define GYRE_CLI_ESTIMATE_CODE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/estimate/code_line.h"
#include "cli/estimate/traffic_file.h"

typedef struct code_lines {
    code_line *lines;
    size_t count;
    code_line all;  /* the sums */
    double checks;  /* instructions of `all.issued` that check messages with parts */
    uint64_t frame; /* bytes that functions of the handler take for their arrays, about */
} code_lines;

/**
 * Returns an exit code; prints why when it is not CLI_OK. CLI_FAILED also when code ran and no instruction has a line of the user's, so
 * that an estimate would be of nothing. Call code_lines_finish in every case.
 */
int code_lines_make(code_lines *code, const traffic_file *traffic);
void code_lines_finish(code_lines *code);

/** The weight of one instruction, as objdump prints it. Visible for tests. */
double code_weight(const char *name, const char *operands);

#endif
