/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a block, one after the other, by the function of the dialect. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_BLOCK_KERNEL(block_sums, work, done, gyre_none)
{
    u32 x = request->seed + gyre_lane(gyre);
    for (u32 i = 0; i < request->turns; i++)
        x += gyre_block_sum_u32(gyre, x);
    if (gyre_lane(gyre) == 0)
        reply->value = x;
    return GYRE_REPLY;
}
