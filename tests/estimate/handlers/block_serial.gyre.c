/* SPDX-License-Identifier: Apache-2.0 */
/* One lane works while the others wait. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
typedef struct partial {
    u32 sums[256];
} partial;

GYRE_BLOCK_KERNEL(block_serial, work, done, partial)
{
    const u32 lane = gyre_lane(gyre);
    scratch->sums[lane] = request->seed + lane;
    gyre_barrier(gyre);
    if (lane == 0) {
        u32 x = 0;
        for (u32 i = 0; i < request->turns; i++)
            x += scratch->sums[i % gyre_lane_count(gyre)];
        reply->value = x;
    }
    return GYRE_REPLY;
}
