/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a block add up in scratch memory, with a barrier at each step. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
typedef struct partial {
    u32 sums[256];
} partial;

GYRE_BLOCK_KERNEL(block_sum, work, done, partial)
{
    const u32 lane = gyre_lane(gyre);
    u32 x = request->seed + lane;
    for (u32 i = 0; i < request->turns; i++)
        x = x * 1664525u + 1013904223u;
    scratch->sums[lane] = x;
    gyre_barrier(gyre);
    for (u32 step = gyre_lane_count(gyre) / 2; step > 0; step /= 2) {
        if (lane < step)
            scratch->sums[lane] += scratch->sums[lane + step];
        gyre_barrier(gyre);
    }
    if (lane == 0)
        reply->value = scratch->sums[0];
    return GYRE_REPLY;
}
