/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and deviation by the functions of the block alone.
 *
 * expects: nothing
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define STATISTICS(FIELD) FIELD(u32, mean) FIELD(u32, deviation) FIELD(u32, median)
GYRE_MESSAGE(statistics, STATISTICS)

GYRE_BLOCK_KERNEL(together, row, statistics, gyre_none)
{
    const u32 lane = gyre_lane(gyre), mine = request->values[lane];
    const u32 mean = gyre_block_sum_u32(gyre, mine) / 16;
    const u32 deviation = gyre_block_max_u32(gyre, mine > mean ? mine - mean : mean - mine);
    const u32 other = gyre_block_broadcast_u32(gyre, mine, mean % 16);
    if (lane == 3) {
        reply->mean = mean;
        reply->deviation = deviation;
        reply->median = other;
    }
    return GYRE_REPLY;
}
