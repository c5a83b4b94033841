/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that part ways: the message fails, the next one is answered. Undefined on OpenCL. */
#include <gyre/kernel.h>

#include "divergence.h"

enum way { TOGETHER, ONE_LEAVES, TWO_PLACES, ONE_FAILS, HALF_LEAVES, TWO_SUMS };

GYRE_BLOCK_KERNEL(divergence, divergence_request, divergence_reply, gyre_none)
{
    const u32 lane = gyre_lane(gyre), way = request->way;
    if (way == ONE_LEAVES && lane == 3)
        return GYRE_REPLY;
    if (way == TWO_PLACES && lane % 2)
        gyre_barrier(gyre);
    else
        gyre_barrier(gyre);
    if (way == ONE_FAILS && lane == 40)
        return gyre_fail(gyre, 7, "lane 40 fails");
    if (way == HALF_LEAVES && lane >= 32)
        return GYRE_REPLY;
    if (way == TWO_SUMS && lane % 2)
        reply->lanes = gyre_block_sum_u32(gyre, 2u);
    else if (way == TWO_SUMS)
        reply->lanes = gyre_block_sum_u32(gyre, 3u);
    const u32 lanes = gyre_block_sum_u32(gyre, 1u);
    gyre_barrier(gyre);
    if (lane == 0)
        reply->lanes = lanes;
    return GYRE_REPLY;
}
