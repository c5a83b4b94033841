/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums in two buffers by turns: one barrier a step is enough.
 *
 * expects: nothing
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

typedef struct ping_pong_work {
    u32 sums[2][16];
} ping_pong_work;

GYRE_BLOCK_KERNEL(ping_pong, row, row, ping_pong_work)
{
    const u32 lane = gyre_lane(gyre);
    u32 side = 0;
    scratch->sums[0][lane] = request->values[lane];
    gyre_barrier(gyre);
    for (u32 distance = 1; distance < 16; distance *= 2) {
        const u32 before = lane >= distance ? scratch->sums[side][lane - distance] : 0;
        scratch->sums[1 - side][lane] = scratch->sums[side][lane] + before;
        side = 1 - side;
        gyre_barrier(gyre);
    }
    reply->values[lane] = scratch->sums[side][lane];
    return GYRE_REPLY;
}
