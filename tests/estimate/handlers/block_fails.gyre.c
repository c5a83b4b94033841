/* SPDX-License-Identifier: Apache-2.0 */
/* One lane fails each message, behind a barrier. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_BLOCK_KERNEL(block_fails, work, done, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    gyre_barrier(gyre);
    if (lane == 1 && request->turns > 0)
        return gyre_fail(gyre, 7, "lane 1 fails");
    gyre_barrier(gyre);
    if (lane == 0)
        reply->value = request->seed;
    return GYRE_REPLY;
}
