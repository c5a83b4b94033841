/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of numbers in scratch memory: 16 reads that do not wait for each other, between two barriers. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
typedef struct tile {
    u32 a[8][8], b[8][8];
} tile;

GYRE_BLOCK_KERNEL(tiles, work, done, tile)
{
    const u32 row = gyre_lane(gyre) / 8 % 8, column = gyre_lane(gyre) % 8;
    u32 sum = 0;
    for (u32 i = 0; i < request->turns; i++) {
        scratch->a[row][column] = request->seed + i + row;
        scratch->b[row][column] = request->seed ^ (i + column);
        gyre_barrier(gyre);
        for (u32 k = 0; k < 8; k++)
            sum += scratch->a[row][k] * scratch->b[k][column];
        gyre_barrier(gyre);
    }
    if (gyre_lane(gyre) == 0)
        reply->value = sum;
    return GYRE_REPLY;
}
