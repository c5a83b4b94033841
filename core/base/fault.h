/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes calls fail on purpose: a fault point is a named place at which a test lets a call fail. Builds without
 * GYRE_FAULT_POINTS have no fault points. The environment says what a point does, and the board is the table of
 * that:
 *
 *     GYRE_FAULTS=NAME=ACTION[:VALUE][@WHEN],...
 *     ACTION  die | fail[:ERRNO] | short | delay:MS
 *     WHEN    N: the Nth time (1) | N+: then and ever after | P%: each time with this probability
 *     GYRE_FAULT_SEED=N      what probabilities are drawn from
 *     GYRE_FAULT_FILE=PATH   keeps the board in a file that the program, its workers and the test share
 *
 * Hits are counted in each process, or, with a file, over all processes that share it. fault_table.h has the names.
 */
#ifndef GYRE_CORE_BASE_FAULT_H
#define GYRE_CORE_BASE_FAULT_H

#include <stdint.h>

#include "core/base/fault_table.h"
#include "gyre/status.h"

enum gyre_fault_point {
#define GYRE_FAULT_ROW(point, name, does, where) GYRE_FAULT_##point,
    GYRE_FAULT_TABLE(GYRE_FAULT_ROW)
#undef GYRE_FAULT_ROW
        GYRE_FAULT_COUNT
};

enum gyre_fault_action {
    GYRE_FAULT_DIE = 1,   /* the process is gone, as by SIGKILL */
    GYRE_FAULT_FAIL = 2,  /* the call fails with the errno `value` */
    GYRE_FAULT_SHORT = 3, /* a write writes half of its bytes */
    GYRE_FAULT_DELAY = 4  /* the call takes `value` ms longer */
};

/** One fault point: what it does, and at which hits. The process that sets it writes `last` last, with release. */
struct gyre_fault_cell {
    uint32_t action, value;
    uint64_t first, last; /* hits, counted from 1; last 0: no such hit */
    uint64_t chance;      /* probability, in units of 2^-32, at the hits outside first ... last */
    uint64_t hits, fired; /* so far */
};

struct gyre_fault_board {
    uint64_t magic, seed;
    struct gyre_fault_cell cells[GYRE_FAULT_COUNT];
};
#define GYRE_FAULT_MAGIC UINT64_C(0x31746c7561466779)

/** GYRE_FAULT_POINT returns 0 (go on), an errno (fail with it), or this value (do half). */
#define GYRE_FAULT_DO_HALF (-1)

#if GYRE_FAULT_POINTS
/** Counts a hit of the point and does what the board says. Any thread. */
int gyre_fault_hit(enum gyre_fault_point point);
/** Reads a plan into a board; CONFIG with a sentence. */
gyre_status gyre_fault_plan(const char *text, struct gyre_fault_board *out);
/** CONFIG unless the plan in the environment is well-formed. */
gyre_status gyre_faults_check(void);
#define GYRE_FAULT_POINT(point) gyre_fault_hit(GYRE_FAULT_##point)
#else
#define GYRE_FAULT_POINT(point) 0
#define gyre_faults_check()     GYRE_OK
#endif

#endif
