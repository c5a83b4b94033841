/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a grid tell each other their largest number: what a block reads of itself needs a barrier of the block alone.
 *
 * expects: nothing
 * options: --lanes 16 --blocks 3
 * request: {"turns":3} */
#include <gyre/kernel.h>

#define TURNS(FIELD) FIELD(u32, turns)
GYRE_MESSAGE(turns, TURNS)
#define MOST(FIELD) FIELD(u32, most)
GYRE_MESSAGE(most, MOST)
#define BLOCKS(FIELD) FIELD(u32, most[8])
GYRE_MESSAGE(blocks, BLOCKS)
typedef struct found {
    u32 most[16];
} found;

GYRE_HELPER u32 most_of_all(gyre_context *gyre, GYRE_GLOBAL blocks *state, GYRE_SHARED found *scratch,
                            u32 mine)
{
    const u32 lane = gyre_lane(gyre), block = gyre_block(gyre);
    scratch->most[lane] = mine;
    gyre_barrier(gyre);
    if (lane == 0)
        for (u32 i = 0; i < gyre_lane_count(gyre); i++)
            mine = scratch->most[i] > mine ? scratch->most[i] : mine;
    if (lane == 0)
        state->most[block] = mine;
    gyre_barrier(gyre);
    mine = state->most[block];
    gyre_grid_barrier(gyre);
    for (u32 i = 0; i < gyre_block_count(gyre); i++)
        mine = state->most[i] > mine ? state->most[i] : mine;
    gyre_grid_barrier(gyre);
    return gyre_block_max_u32(gyre, mine);
}

GYRE_GRID_KERNEL_WITH(grid_most, turns, most, found, blocks, gyre_none)
{
    u32 all = gyre_grid_lane(gyre);
    if (!gyre_assert(gyre, gyre_lane_count(gyre) <= 16 && gyre_block_count(gyre) <= 8))
        return GYRE_FAILED;
    for (u32 i = 0; i < request->turns; i++)
        all = most_of_all(gyre, state, scratch, all + i);
    if (gyre_grid_lane(gyre) == 0)
        reply->most = all;
    return GYRE_REPLY;
}
