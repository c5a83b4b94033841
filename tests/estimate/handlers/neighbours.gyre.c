/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes with several cells each: five reads of scratch memory and a write for each, a barrier at the end of a turn. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
typedef struct cells {
    u32 cells[2][18][18];
} cells;

GYRE_BLOCK_KERNEL(neighbours, work, done, cells)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    u32 side = 0;
    for (u32 i = lane; i < 18 * 18; i += lanes)
        scratch->cells[0][i / 18][i % 18] = request->seed + i;
    gyre_barrier(gyre);
    for (u32 turn = 0; turn < request->turns; turn++) {
        for (u32 i = lane; i < 256; i += lanes) {
            const u32 y = i / 16 + 1, x = i % 16 + 1;
            scratch->cells[1 - side][y][x] = scratch->cells[side][y][x] * 3u +
                                             scratch->cells[side][y - 1][x] + scratch->cells[side][y + 1][x] +
                                             scratch->cells[side][y][x - 1] + scratch->cells[side][y][x + 1];
        }
        side = 1 - side;
        gyre_barrier(gyre);
    }
    if (lane == 0)
        reply->value = scratch->cells[side][1][1];
    return GYRE_REPLY;
}
