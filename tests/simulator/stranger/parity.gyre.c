/* SPDX-License-Identifier: Apache-2.0 */
/* Heat that spreads along a rod, in two buffers by turns. Planted: after each third turn the sides are not changed, so
 * lanes overwrite what their neighbours read.
 *
 * expects: race
 * options: --lanes 8
 * request: {"turns":2,"heat":[8,0,0,0,0,0,0,8]}
 * request: {"turns":4,"heat":[8,0,0,0,0,0,0,8]} */
#include <gyre/kernel.h>

#define ROD(FIELD) FIELD(u32, turns) FIELD(u32, heat[8])
GYRE_MESSAGE(rod, ROD)
typedef struct parity_work {
    u32 heat[2][8];
} parity_work;

GYRE_BLOCK_KERNEL(parity, rod, rod, parity_work)
{
    const u32 lane = gyre_lane(gyre), left = lane > 0 ? lane - 1 : 0;
    u32 side = 0;
    scratch->heat[0][lane] = request->heat[lane];
    gyre_barrier(gyre);
    for (u32 turn = 0; turn < request->turns; turn++) {
        const u32 other = turn == 2 ? side : 1 - side;
        const u32 mean = (scratch->heat[side][left] + scratch->heat[side][lane]) / 2; /* first */
        scratch->heat[other][lane] = mean;                                            /* second */
        side = other;
        gyre_barrier(gyre);
    }
    if (lane == 0)
        reply->turns = request->turns;
    reply->heat[lane] = scratch->heat[side][lane];
    return GYRE_REPLY;
}
