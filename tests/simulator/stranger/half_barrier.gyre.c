/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of the lower half combine values, with a barrier between the steps. Planted: the upper half meets one barrier
 * less.
 *
 * expects: lanes
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define XOR(FIELD) FIELD(u32, value)
GYRE_MESSAGE(xor_of, XOR)

GYRE_HELPER void fold(gyre_context *gyre, GYRE_SHARED row *work, u32 step)
{
    work->values[gyre_lane(gyre)] ^= work->values[gyre_lane(gyre) + step];
    gyre_barrier(gyre); /* first */
}

GYRE_BLOCK_KERNEL(half_barrier, row, xor_of, row)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[lane] = request->values[lane];
    gyre_barrier(gyre);
    for (u32 step = 8; step > 0; step /= 2)
        if (lane < step)
            fold(gyre, scratch, step);
    gyre_barrier(gyre); /* second */
    if (lane == 0)
        reply->value = scratch->values[0];
    return GYRE_REPLY;
}
