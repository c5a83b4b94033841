/* SPDX-License-Identifier: Apache-2.0 */
/* A sorting network: a barrier in the innermost of three loops. */
#include <gyre/kernel.h>

#include "bitonic_sort.h"

GYRE_BLOCK_KERNEL(bitonic_sort, sort_message, sort_message, sort_message)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    for (u32 i = lane; i < SORT_COUNT; i += lanes)
        scratch->keys[i] = request->keys[i];
    for (u32 size = 2; size <= SORT_COUNT; size <<= 1) {
        for (u32 distance = size / 2; distance > 0; distance >>= 1) {
            gyre_barrier(gyre);
            for (u32 i = lane; i < SORT_COUNT; i += lanes) {
                const u32 other = i ^ distance;
                const int ascending = (i & size) == 0;
                if (other < i)
                    continue; /* the pair belongs to the lane of `other` */
                const i32 a = scratch->keys[i], b = scratch->keys[other];
                if ((a > b) == ascending) {
                    scratch->keys[i] = b;
                    scratch->keys[other] = a;
                }
            }
        }
    }
    gyre_barrier(gyre);
    for (u32 i = lane; i < SORT_COUNT; i += lanes)
        reply->keys[i] = scratch->keys[i];
    return GYRE_REPLY;
}
