/* SPDX-License-Identifier: Apache-2.0 */
/* Each block adds the sum of its message to the sum of all. Planted: lane 0 of each of two blocks does so plainly.
 *
 * expects: race
 * options: --lanes 16 --blocks 2
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]}
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]}
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define SUM(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(sum_of, SUM)

GYRE_BLOCK_KERNEL_WITH(partial, row, sum_of, gyre_none, sum_of, gyre_none)
{
    const u32 sum = gyre_block_sum_u32(gyre, request->values[gyre_lane(gyre)]);
    if (gyre_lane(gyre) == 0) {
        state->sum += sum; /* first */ /* second */
        reply->sum = sum;
    }
    return GYRE_REPLY;
}
