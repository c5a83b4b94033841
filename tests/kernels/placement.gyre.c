/* SPDX-License-Identifier: Apache-2.0 */
/* Where a lane is: lane, lane count, block, block count. */
#include <gyre/kernel.h>

#include "placement.h"

GYRE_BLOCK_KERNEL(placement, placement_request, placement_reply, placement_scratch)
{
    const u32 lane = gyre_lane(gyre);
    if (lane < 64)
        scratch->seen[lane] = lane * lane;
    gyre_barrier(gyre);
    if (lane == 0) {
        reply->lanes = gyre_lane_count(gyre);
        reply->blocks = gyre_block_count(gyre);
        reply->block_is_one = gyre_block(gyre) < gyre_block_count(gyre);
        for (u32 i = 0; i < 64; i++)
            reply->order[i] = i < gyre_lane_count(gyre) ? scratch->seen[i] : 0;
    }
    return GYRE_REPLY;
}
