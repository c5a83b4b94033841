/* SPDX-License-Identifier: Apache-2.0 */
/* Heat on a grid: neighbours in scratch memory, turn by turn. */
#include <gyre/kernel.h>

#include "stencil.h"

/* The heat of a cell after one step; the border stays as it is. */
GYRE_HELPER f32 spread_heat(const GYRE_SHARED stencil_scratch *scratch, u32 side, u32 y, u32 x, f32 rate)
{
    const f32 here = scratch->grid[side][y][x];
    if (y == 0 || x == 0 || y == STENCIL_N - 1 || x == STENCIL_N - 1)
        return here;
    const f32 around = scratch->grid[side][y - 1][x] + scratch->grid[side][y + 1][x] +
                       scratch->grid[side][y][x - 1] + scratch->grid[side][y][x + 1];
    return here + rate * (around - 4.0f * here);
}

GYRE_BLOCK_KERNEL(stencil, stencil_request, stencil_reply, stencil_scratch)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre), cells = STENCIL_N * STENCIL_N;
    u32 side = 0;
    f32 change = 0;
    for (u32 i = lane; i < cells; i += lanes)
        scratch->grid[0][i / STENCIL_N][i % STENCIL_N] = request->grid[i / STENCIL_N][i % STENCIL_N];
    gyre_barrier(gyre);
    for (u32 turn = 0; turn < request->turns; turn++) {
        change = 0;
        for (u32 i = lane; i < cells; i += lanes) {
            const u32 y = i / STENCIL_N, x = i % STENCIL_N;
            const f32 heat = spread_heat(scratch, side, y, x, request->rate);
            change = fmaxf(change, fabsf(heat - scratch->grid[side][y][x]));
            scratch->grid[1 - side][y][x] = heat;
        }
        side = 1 - side;
        gyre_barrier(gyre);
    }
    for (u32 i = lane; i < cells; i += lanes)
        reply->grid[i / STENCIL_N][i % STENCIL_N] = scratch->grid[side][i / STENCIL_N][i % STENCIL_N];
    change = gyre_block_max_f32(gyre, change);
    if (lane == 0)
        reply->change = change;
    return GYRE_REPLY;
}
