/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of a handler costs: filled in by code_lines.c and code_loops.c. */
#ifndef GYRE_CLI_ESTIMATE_CODE_LINE_H
#define GYRE_CLI_ESTIMATE_CODE_LINE_H

#include <stdbool.h>
#include <stdint.h>

/** A line of the user's files. Sums over all messages. */
typedef struct code_line {
    char file[64]; /* the last part of its path; both without letters that steer a terminal */
    char path[1024];
    uint32_t line;
    bool declares;             /* a message: the code of this line is Gyre's, and checks it */
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

#endif
