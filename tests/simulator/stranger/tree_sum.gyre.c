/* SPDX-License-Identifier: Apache-2.0 */
/* A sum by a tree, with a barrier in each step and lanes that have nothing to do.
 *
 * expects: nothing
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]}
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define SUM(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(sum_of, SUM)

GYRE_BLOCK_KERNEL(tree_sum, row, sum_of, row)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[lane] = request->values[lane];
    for (u32 step = 8; step > 0; step >>= 1) {
        gyre_barrier(gyre);
        if (lane < step)
            scratch->values[lane] += scratch->values[lane + step];
    }
    if (lane == 0) /* wrote it itself: no barrier is needed */
        reply->sum = scratch->values[0];
    return GYRE_REPLY;
}
