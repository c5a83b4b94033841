/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a block sort 64 numbers by counting how many are smaller. */
#include <gyre/kernel.h>

#define NUMBERS(FIELD) FIELD(u32, values[64])
GYRE_MESSAGE(numbers_of, NUMBERS)
typedef struct ranked {
    u32 values[64];
} ranked;

GYRE_BLOCK_KERNEL(ranks, numbers_of, numbers_of, ranked)
{
    const u32 lanes = gyre_lane_count(gyre);
    for (u32 i = gyre_lane(gyre); i < 64; i += lanes)
        scratch->values[i] = request->values[i];
    gyre_barrier(gyre);
    for (u32 i = gyre_lane(gyre); i < 64; i += lanes) {
        u32 rank = 0;
        for (u32 j = 0; j < 64; j++)
            rank += scratch->values[j] < scratch->values[i] ||
                    (scratch->values[j] == scratch->values[i] && j < i);
        reply->values[rank] = scratch->values[i];
    }
    return GYRE_REPLY;
}
