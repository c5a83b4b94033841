/* SPDX-License-Identifier: Apache-2.0 */
/* Block kernels: lanes, barriers, scratch memory, reductions. */
#include <gyre/kernel.h>
#include "messages.h"

#define CELLS(FIELD) FIELD(u64, w[1024])
GYRE_MESSAGE(cells, CELLS)

/* Each lane writes a cell, meets the others, and adds its neighbour's to its own: wrong without a barrier. */
GYRE_BLOCK_KERNEL(neighbours, words_1, lane_report, cells)
{
    u32 lane = gyre_lane(gyre), count = gyre_lane_count(gyre);
    scratch->w[lane] = request->w[0] + lane;
    gyre_barrier(gyre);
    u64 sum = gyre_block_sum_u64(gyre, scratch->w[lane] + scratch->w[(lane + 1) % count]);
    u32 highest = gyre_block_max_u32(gyre, lane);
    u32 first = gyre_block_broadcast_u32(gyre, lane + 7, 0);
    if (lane == 0) {
        reply->sum = sum;
        reply->lanes = count;
        reply->highest = highest;
        reply->first = first;
        reply->blocks = gyre_block_count(gyre);
    }
    return GYRE_REPLY;
}

/* The odd lanes fail. */
GYRE_BLOCK_KERNEL(odd_fail, words_1, words_1, gyre_none)
{
    gyre_barrier(gyre);
    if (gyre_lane(gyre) % 2)
        return gyre_fail(gyre, (i32)gyre_lane(gyre), "odd lane");
    reply->w[0] = request->w[0];
    return GYRE_REPLY;
}
