/* SPDX-License-Identifier: Apache-2.0 */
/* The greatest f64 of a block, again and again, by the function of the dialect. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_BLOCK_KERNEL(block_most_f64, work, done, gyre_none)
{
    f64 x = (f64)(request->seed + gyre_lane(gyre));
    for (u32 i = 0; i < request->turns; i++)
        x = 0.5 * x + gyre_block_max_f64(gyre, x);
    if (gyre_lane(gyre) == 0)
        reply->value = (u32)x;
    return GYRE_REPLY;
}
