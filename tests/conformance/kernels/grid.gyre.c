/* SPDX-License-Identifier: Apache-2.0 */
/* Grid kernels: all blocks work on one message. */
#include <gyre/kernel.h>
#include "grid.h"

/* The sum of the numbers below `count`, each block's part by way of the state, with two barriers. */
GYRE_GRID_KERNEL_WITH(grid_sum, grid_ask, grid_answer, gyre_none, grid_sums, gyre_none)
{
    const u32 block = gyre_block(gyre), lane = gyre_lane(gyre);
    const u32 mine = block == request->block;
    const u64 until = gyre_time_ns(gyre) + (u64)request->microseconds * 1000;
    while (lane == 0 && gyre_time_ns(gyre) < until)
        ;
    u64 sum = 0;
    for (u32 i = gyre_grid_lane(gyre); i < request->count; i += gyre_grid_lane_count(gyre))
        sum += i;
    sum = gyre_block_sum_u64(gyre, sum);
    if (lane == 0)
        state->of[block] = sum;
    if (mine && request->what == GRID_FAIL)
        return gyre_fail(gyre, 7, "this block does not want");
    if (mine && request->what == GRID_LEAVE)
        return GYRE_REPLY;
    if (mine && request->what == GRID_STRAY)
        gyre_grid_barrier(gyre);
    else
        gyre_grid_barrier(gyre);
    u64 all = 0;
    for (u32 i = 0; i < gyre_block_count(gyre); i++)
        all += state->of[i];
    gyre_grid_barrier(gyre); /* all have read */
    if (lane == 0)
        state->of[block] = all;
    gyre_grid_barrier(gyre);
    if (mine && request->what == GRID_LATE)
        return gyre_fail(gyre, 8, "too late");
    if (request->what == GRID_ALL_FAIL)
        return gyre_fail(gyre, (i32)(10 + block), "each block");
    u64 again = 0;
    for (u32 i = 0; i < gyre_block_count(gyre); i++)
        again += state->of[i];
    if (block == gyre_block_count(gyre) - 1 && lane == 0)
        reply->again = again; /* any block may write the reply */
    if (block == 0 && lane == 0) {
        reply->sum = all;
        reply->blocks = gyre_block_count(gyre);
        reply->lanes = gyre_lane_count(gyre);
    }
    return GYRE_REPLY;
}

#define GRID_FIELDS(IN, INOUT) INOUT(u32, even) INOUT(u32, odd)
GYRE_BUFFERS(grid_fields, GRID_FIELDS)

GYRE_HELPER u32 grid_neighbours(const GYRE_GLOBAL u32 *from, u32 i, u32 count)
{
    return from[(i + count - 1) % count] * 3 + from[i] + from[(i + 1) % count] * 5;
}

/* Each cell follows from its neighbours, so a step needs all of the one before. */
GYRE_GRID_KERNEL_WITH(grid_stencil, grid_steps, grid_steps, gyre_none, gyre_none, grid_fields)
{
    const u32 count = (u32)buffers->even_count;
    for (u32 step = 0; step < request->steps; step++) {
        const GYRE_GLOBAL u32 *from = step % 2 ? buffers->odd : buffers->even;
        GYRE_GLOBAL u32 *to = step % 2 ? buffers->even : buffers->odd;
        for (u32 i = gyre_grid_lane(gyre); i < count; i += gyre_grid_lane_count(gyre))
            to[i] = grid_neighbours(from, i, count);
        gyre_grid_barrier(gyre);
    }
    if (gyre_grid_lane(gyre) == 0)
        reply->steps = request->steps;
    return GYRE_REPLY;
}

/* A reply with a text. It is empty when the handler begins, in every block. */
GYRE_GRID_KERNEL(grid_says, grid_steps, grid_text, gyre_none)
{
    if (!gyre_assert(gyre, reply->text.count == 0))
        return GYRE_FAILED;
    gyre_grid_barrier(gyre);
    if (gyre_grid_lane(gyre) == 0) {
        reply->blocks = gyre_block_count(gyre);
        reply->text = gyre_new_text(gyre, reply, "all blocks met");
    }
    return GYRE_REPLY;
}

#define GRID_SCRATCH(FIELD) FIELD(u32, words[64])
GYRE_MESSAGE(grid_scratch, GRID_SCRATCH)

/* Words are turned round: each block writes its share of the reply, from a scratch of its own. */
GYRE_GRID_KERNEL(grid_turn, grid_large, grid_large, grid_scratch)
{
    for (u32 first = gyre_block(gyre) * 64; first < 2048; first += gyre_block_count(gyre) * 64) {
        for (u32 i = gyre_lane(gyre); i < 64; i += gyre_lane_count(gyre))
            scratch->words[i] = request->words[first + i];
        gyre_barrier(gyre);
        for (u32 i = gyre_lane(gyre); i < 64; i += gyre_lane_count(gyre))
            reply->words[2047 - (first + i)] = scratch->words[i] ^ gyre_block_count(gyre);
        gyre_barrier(gyre);
    }
    return GYRE_REPLY;
}
