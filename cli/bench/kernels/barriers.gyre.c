/* SPDX-License-Identifier: Apache-2.0 */
/* Grid barriers, one behind the other: word 5 says how many, and word 4 whether by gyre_grid_barrier or by a bare counter. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define BARRIER_STATE(FIELD) FIELD(u64, counter) FIELD(u64, bare) FIELD(u64, wrong) FIELD(u64, turns[256])
GYRE_MESSAGE(barrier_state, BARRIER_STATE)

/* What any barrier of this kind does at least: each block raises a counter, and looks at it until all have. */
GYRE_HELPER void bare_barrier(gyre_context *gyre, GYRE_GLOBAL barrier_state *state, u64 target)
{
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0) {
        gyre_atomic_add(&state->counter, (u64)1);
        while (gyre_atomic_load(&state->counter) < target)
            ;
    }
    gyre_barrier(gyre);
}

/* Each block says at which barrier it is, and looks now and then at what its neighbour says. Word 1 of the reply counts lies. */
GYRE_GRID_KERNEL_WITH(barriers, words_48, words_48, gyre_none, barrier_state, gyre_none)
{
    const u32 block = gyre_block(gyre), blocks = gyre_block_count(gyre);
    const u64 count = request->word[5], before = state->bare * blocks;
    const u32 first = gyre_lane(gyre) == 0;
    if (!gyre_assert(gyre, blocks <= 256))
        return GYRE_FAILED;
    if (first)
        gyre_atomic_store(&state->turns[block], (u64)0);
    gyre_grid_barrier(gyre);
    for (u64 i = 1; i <= count; i++) {
        if (first)
            gyre_atomic_store(&state->turns[block], i);
        if (request->word[4])
            bare_barrier(gyre, state, before + i * blocks);
        else
            gyre_grid_barrier(gyre);
        if (first && (i % 16 == 0 || i == count) && gyre_atomic_load(&state->turns[(block + 1) % blocks]) < i)
            gyre_atomic_add(&state->wrong, (u64)1);
    }
    gyre_grid_barrier(gyre);
    if (block == 0 && first) {
        state->bare += request->word[4] ? count : 0;
        *reply = *request;
        reply->word[1] = state->wrong;
        reply->word[2] = blocks;
    }
    return GYRE_REPLY;
}
