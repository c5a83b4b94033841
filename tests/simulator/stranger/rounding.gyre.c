/* SPDX-License-Identifier: Apache-2.0 */
/* Adds floats of very different sizes. Planted: by an atomic addition, whose order decides what is rounded off.
 *
 * expects: schedule
 * options: --lanes 8
 * request: {"values":[1e8,1,-1e8,1,1e8,1,-1e8,1]} */
#include <gyre/kernel.h>

#define FLOATS(FIELD) FIELD(f32, values[8])
GYRE_MESSAGE(floats, FLOATS)
#define SUM(FIELD) FIELD(f32, sum)
GYRE_MESSAGE(sum_of, SUM)

GYRE_BLOCK_KERNEL(rounding, floats, sum_of, sum_of)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        scratch->sum = 0;
    gyre_barrier(gyre);
    gyre_atomic_add_f32(&scratch->sum, request->values[lane]);
    gyre_barrier(gyre);
    if (lane == 0)
        reply->sum = scratch->sum;
    return GYRE_REPLY;
}
