/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane of each block adds to sums of its own in the state, so only messages of one block meet there, and those follow each other.
 *
 * expects: nothing
 * options: --lanes 4 --blocks 2
 * request: {"values":[1,2,3,4]}
 * request: {"values":[1,2,3,4]}
 * request: {"values":[1,2,3,4]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[4])
GYRE_MESSAGE(row, ROW)
#define TOTAL(FIELD) FIELD(u32, total)
GYRE_MESSAGE(total, TOTAL)
#define SUMS(FIELD) FIELD(u32, sums[8]) FIELD(u32, rows[8])
GYRE_MESSAGE(sums, SUMS)

GYRE_BLOCK_KERNEL_WITH(own_sums, row, total, gyre_none, sums, gyre_none)
{
    const u32 lane = gyre_lane(gyre), at = gyre_block(gyre) * 4 + lane;
    state->sums[at] += request->values[lane];
    state->rows[at]++;
    const u32 total = gyre_block_sum_u32(gyre, request->values[lane]);
    if (lane == 0)
        reply->total = total;
    return GYRE_REPLY;
}
