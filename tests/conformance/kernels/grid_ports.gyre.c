/* SPDX-License-Identifier: Apache-2.0 */
/* Grid kernels as stages of a pipeline. */
#include <gyre/kernel.h>
#include "grid.h"

#define GRID_OUT(PORT) PORT(grid_part, parts, 8)
GYRE_PORTS(grid_out, GRID_OUT)

/* The numbers of a request, added up by all blocks, and their sum to the next stage. */
GYRE_GRID_KERNEL_TO_WITH(grid_begin, grid_ask, grid_answer, grid_out, gyre_none, grid_sums, gyre_none)
{
    u64 sum = 0;
    for (u32 i = gyre_grid_lane(gyre); i < request->count; i += gyre_grid_lane_count(gyre))
        sum += i;
    sum = gyre_block_sum_u64(gyre, sum);
    if (gyre_lane(gyre) == 0)
        state->of[gyre_block(gyre)] = sum;
    gyre_grid_barrier(gyre);
    if (gyre_block(gyre) == request->block && gyre_lane(gyre) == 0 &&
        (request->what == GRID_FAIL || gyre_block(gyre) == 0)) {
        u64 all = 0;
        for (u32 i = 0; i < gyre_block_count(gyre); i++)
            all += state->of[i];
        GYRE_GLOBAL grid_part *out = gyre_emit(gyre, parts);
        if (out) {
            out->first = all;
            out->end = request->count;
            out->of = 1;
            out->blocks = gyre_block_count(gyre);
        }
    }
    gyre_grid_barrier(gyre); /* all have read the state */
    return GYRE_NO_REPLY;
}

/* Answers with what came, and with the numbers added up once more. */
GYRE_GRID_KERNEL_WITH(grid_answers, grid_part, grid_answer, gyre_none, grid_sums, gyre_none)
{
    u64 sum = 0;
    for (u64 i = gyre_grid_lane(gyre); i < request->end; i += gyre_grid_lane_count(gyre))
        sum += i;
    sum = gyre_block_sum_u64(gyre, sum);
    if (gyre_lane(gyre) == 0)
        state->of[gyre_block(gyre)] = sum;
    gyre_grid_barrier(gyre);
    if (gyre_grid_lane(gyre) == 0) {
        u64 all = 0;
        for (u32 i = 0; i < gyre_block_count(gyre); i++)
            all += state->of[i];
        reply->sum = request->first;
        reply->again = all;
        reply->blocks = request->blocks;
        reply->lanes = gyre_hop(gyre);
    }
    gyre_grid_barrier(gyre);
    return GYRE_REPLY;
}
