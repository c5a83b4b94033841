/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the loops of a function that no compiler of a GPU unrolls: those which end because of what they computed, and not because a counter
 * has come to its end. A group waits at each turn of them for a comparison and for the lanes that leave. No state but the object's.
 */
#ifndef GYRE_CLI_ESTIMATE_CODE_LOOPS_H
#define GYRE_CLI_ESTIMATE_CODE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/estimate/code_line.h"
#include "cli/estimate/traffic_file.h"

enum { CODE_JUMPS_MAX = 2048, CODE_STEPS_MAX = 1024, CODE_ITEMS_MAX = 512 };

/** What a line has counted for an instruction. `line` is NULL: nothing. */
typedef struct code_cost {
    code_line *line;
    double issued, executed;
} code_cost;

/** A conditional jump. */
typedef struct code_jump {
    uint64_t from, to;
    code_line *line;
    double issued, executed;    /* how often it ran: of groups, and of lanes */
    code_cost cost, comparison; /* the latter's is of nothing where a step compares */
    bool taken;                 /* false: never */
    bool by_constant;           /* it compares with one */
    char compared[2][8];        /* the registers that it goes by; "": none */
} code_jump;

/** An access to an array of the handler's own, by an index. */
typedef struct code_item {
    uint64_t at;
    code_line *line;
    double issued;
    bool spread; /* by an index that comes from data */
} code_item;

/** A register grows or shrinks by a constant there. */
typedef struct code_step {
    uint64_t at;
    code_cost cost;
    bool by_lanes; /* by the number of lanes, so in few turns */
    char name[8];
} code_step;

typedef struct code_loops {
    code_jump jumps[CODE_JUMPS_MAX]; /* of the function; more are left out */
    code_step steps[CODE_STEPS_MAX];
    code_item items[CODE_ITEMS_MAX];
    uint32_t jump_count, step_count, item_count;
    char compared[2][8];
    code_cost comparison;
    bool by_constant;
    bool counts_lanes; /* the call before was one of gyre_lane_count */
} code_loops;

/**
 * An instruction of a line, as objdump prints it, which the line counts with `weight`; `next` is the address behind it, `step` how often it
 * ran; `traffic` knows what was never run.
 */
void code_loops_take(code_loops *loops, const traffic_file *traffic, const traffic_step *step,
                     code_line *line, double weight, const char *name, const char *operands, uint64_t next);
/** Such an access, which the line has counted. */
void code_loops_take_item(code_loops *loops, const code_item *item);
/** The function ends: adds to the turns of the lines of its loops, takes off what a GPU's compiler takes off, and forgets it. */
void code_loops_end(code_loops *loops, const traffic_file *traffic);

#endif
