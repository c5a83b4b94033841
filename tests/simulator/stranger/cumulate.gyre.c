/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums, each step adding what lies a distance to the left. Planted: a lane writes its place while the lane to
 * its right may not have read it yet.
 *
 * expects: race
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

GYRE_BLOCK_KERNEL(cumulate, row, row, row)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[lane] = request->values[lane];
    gyre_barrier(gyre);
    for (u32 distance = 1; distance < 16; distance *= 2) {
        if (lane >= distance)
            scratch->values[lane] += scratch->values[lane - distance]; /* first */ /* second */
        gyre_barrier(gyre);
    }
    reply->values[lane] = scratch->values[lane];
    return GYRE_REPLY;
}
