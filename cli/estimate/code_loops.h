/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the loops of a function that no compiler of a GPU unrolls: those which end because of what they computed, and not because a counter
 * has come to its end. A group waits at each turn of them for a comparison and for the lanes that leave. No state but the object's.
 */
#ifndef GYRE_CLI_ESTIMATE_CODE_LOOPS_H
#define GYRE_CLI_ESTIMATE_CODE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/estimate/traffic_file.h"

enum { CODE_JUMPS_MAX = 2048, CODE_STEPS_MAX = 1024 };

/** A conditional jump. */
typedef struct code_jump {
    uint64_t from, to;
    double *turns; /* of its line */
    double issued;
    bool taken;          /* false: never */
    char compared[2][8]; /* the registers that it goes by; "": none */
} code_jump;

/** A register grows or shrinks by a constant there. */
typedef struct code_step {
    uint64_t at;
    char name[8];
} code_step;

typedef struct code_loops {
    code_jump jumps[CODE_JUMPS_MAX]; /* of the function; more are left out */
    code_step steps[CODE_STEPS_MAX];
    uint32_t jump_count, step_count;
    char compared[2][8];
} code_loops;

/**
 * An instruction, as objdump prints it; `next` is the address behind it, `issued` how often groups ran it. `turns` is of its line; `traffic` knows what was never
 * run.
 */
void code_loops_take(code_loops *loops, const traffic_file *traffic, const char *name, const char *operands,
                     uint64_t next, double *turns, double issued);
/** The function ends: adds to the turns of the lines of its loops, and forgets it. */
void code_loops_end(code_loops *loops);

#endif
