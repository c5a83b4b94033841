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

#include "cli/estimate/traffic_file.h"

/** A line of the user's files. Sums over all messages. */
typedef struct code_line {
    char file[64]; /* the last part of its path; both without letters that steer a terminal */
    char path[1024];
    uint32_t line;
    double issued, executed;   /* instructions: of groups, and of lanes */
    double divisions, doubles; /* those of `issued` that are for divisions and for f64 */
    double singles;            /* those that are additions and multiplications of f32 */
    double spread; /* those of `local` whose index comes from data, so that each lane has another one */
    double local;  /* accesses of groups to arrays of the handler's own, whose indices are not constant */
    uint64_t touches, sectors, fresh, needed,
        span;                    /* memory outside of the block: accesses of groups, 32-byte sectors */
    uint64_t scratch, conflicts; /* of the scratch: accesses of groups, and turns lost in banks */
    uint64_t barriers;           /* of groups */
    uint64_t
        functions; /* of the block: sums and their like, of groups; each counts as two barriers besides */
    double turns;  /* of groups, in loops that end by what they computed (code_loops.h) */
    double scratch_waits; /* the same of the scratch */
    double waits;         /* reads of memory outside of the block that a group waits for */
    uint64_t atomics;     /* of lanes */
} code_line;

typedef struct code_lines {
    code_line *lines;
    size_t count;
    code_line all;  /* the sums */
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
