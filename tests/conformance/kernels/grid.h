/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the grid kernels. */
#ifndef GYRE_CONFORMANCE_GRID_H
#define GYRE_CONFORMANCE_GRID_H

#include <gyre/message.h>

enum { GRID_BLOCKS_MOST = 256 };

/* What a block, number `block`, does that the others do not. */
enum {
    GRID_SUM = 0,
    GRID_FAIL = 1,    /* fails, and is missing at the barrier */
    GRID_LEAVE = 2,   /* returns, and is missing at the barrier */
    GRID_STRAY = 3,   /* meets at another barrier */
    GRID_LATE = 4,    /* fails behind the last barrier */
    GRID_ALL_FAIL = 5 /* each block fails with its number */
};

#define GRID_ASK(FIELD) FIELD(u32, count) FIELD(u32, what) FIELD(u32, block) FIELD(u32, microseconds)
GYRE_MESSAGE(grid_ask, GRID_ASK)
#define GRID_ANSWER(FIELD) FIELD(u64, sum) FIELD(u64, again) FIELD(u32, blocks) FIELD(u32, lanes)
GYRE_MESSAGE(grid_answer, GRID_ANSWER)
#define GRID_SUMS(FIELD) FIELD(u64, of[256])
GYRE_MESSAGE(grid_sums, GRID_SUMS)

#define GRID_STEPS(FIELD) FIELD(u32, steps) FIELD(u32, reserved)
GYRE_MESSAGE(grid_steps, GRID_STEPS)
#define GRID_TEXT(FIELD) FIELD(u32, blocks) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(grid_text, GRID_TEXT, 200)

#define GRID_LARGE(FIELD) FIELD(u32, words[2048])
GYRE_MESSAGE(grid_large, GRID_LARGE)

/* Of a pipeline: the numbers from 0 to `count`, in `parts` messages. */
#define GRID_PART(FIELD) FIELD(u64, first) FIELD(u64, end) FIELD(u32, of) FIELD(u32, blocks)
GYRE_MESSAGE(grid_part, GRID_PART)

#endif
