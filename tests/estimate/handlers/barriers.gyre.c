/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a block pass numbers on, with two barriers at each turn. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
typedef struct places {
    u32 values[256];
} places;

GYRE_BLOCK_KERNEL(barriers, work, done, places)
{
    const u32 lane = gyre_lane(gyre), count = gyre_lane_count(gyre);
    scratch->values[lane] = request->seed + lane;
    gyre_barrier(gyre);
    for (u32 i = 0; i < request->turns; i++) {
        const u32 next = scratch->values[lane + 1 < count ? lane + 1 : 0];
        gyre_barrier(gyre);
        scratch->values[lane] = next ^ i;
        gyre_barrier(gyre);
    }
    if (lane == 0)
        reply->value = scratch->values[0];
    return GYRE_REPLY;
}
