/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a block part ways: half of them leave, and the others wait. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_BLOCK_KERNEL(block_parts, work, done, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    gyre_barrier(gyre);
    if (lane >= 32 && request->turns > 0)
        return GYRE_REPLY;
    gyre_barrier(gyre);
    if (lane == 0)
        reply->value = request->seed;
    return GYRE_REPLY;
}
