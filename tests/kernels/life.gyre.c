/* SPDX-License-Identifier: Apache-2.0 */
/* The game of life on a torus, 32 cells a word. */
#include <gyre/kernel.h>

#include "life.h"

/* A row of 32 cells after one turn, all cells at once: counts of neighbours as bit planes. */
GYRE_HELPER u32 evolve(u32 above, u32 here, u32 below)
{
    const u32 n[8] = {gyre_rotl_u32(above, 1),
                      above,
                      gyre_rotl_u32(above, 31),
                      gyre_rotl_u32(here, 1),
                      gyre_rotl_u32(here, 31),
                      gyre_rotl_u32(below, 1),
                      below,
                      gyre_rotl_u32(below, 31)};
    u32 ones = 0, twos = 0, fours = 0;
    for (u32 i = 0; i < 8; i++) {
        const u32 carry = ones & n[i];
        ones ^= n[i];
        fours |= twos & carry;
        twos ^= carry;
    }
    return twos & ~fours & (ones | here);
}

GYRE_BLOCK_KERNEL(life, life_message, life_message, life_scratch)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    u32 side = 0, turn = 0;
    for (u32 row = lane; row < 32; row += lanes)
        scratch->rows[0][row] = request->rows[row];
    while (turn < request->turns) {
        gyre_barrier(gyre);
        for (u32 row = lane; row < 32; row += lanes)
            scratch->rows[1 - side][row] =
                evolve(scratch->rows[side][(row + 31) % 32], scratch->rows[side][row],
                       scratch->rows[side][(row + 1) % 32]);
        side = 1 - side;
        turn++;
    }
    for (u32 row = lane; row < 32; row += lanes)
        reply->rows[row] = scratch->rows[side][row];
    if (lane == 0)
        reply->turns = turn;
    return GYRE_REPLY;
}
