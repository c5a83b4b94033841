/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sum in scratch memory, any number of lanes. */
#include <gyre/kernel.h>

#include "prefix_sum.h"

GYRE_BLOCK_KERNEL(prefix_sum, prefix_message, prefix_message, prefix_scratch)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    u32 side = 0;
    for (u32 i = lane; i < PREFIX_COUNT; i += lanes)
        scratch->sums[0][i] = request->values[i];
    gyre_barrier(gyre);
    for (u32 distance = 1; distance < PREFIX_COUNT; distance *= 2) {
        for (u32 i = lane; i < PREFIX_COUNT; i += lanes)
            scratch->sums[1 - side][i] =
                scratch->sums[side][i] + (i >= distance ? scratch->sums[side][i - distance] : 0);
        side = 1 - side;
        gyre_barrier(gyre);
    }
    for (u32 i = lane; i < PREFIX_COUNT; i += lanes)
        reply->values[i] = scratch->sums[side][i];
    return GYRE_REPLY;
}
