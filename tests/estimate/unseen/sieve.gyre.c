/* SPDX-License-Identifier: Apache-2.0 */
/* The primes below 256 that lanes of a block mark in the scratch. */
#include <gyre/kernel.h>

#define MOST(FIELD) FIELD(u32, most)
GYRE_MESSAGE(most, MOST)
#define PRIMES(FIELD) FIELD(u32, count)
GYRE_MESSAGE(primes_of, PRIMES)
typedef struct marks {
    u8 composite[256];
} marks;

GYRE_BLOCK_KERNEL(sieve, most, primes_of, marks)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre),
              most_of = request->most < 256 ? request->most : 256;
    for (u32 i = lane; i < 256; i += lanes)
        scratch->composite[i] = i < 2;
    gyre_barrier(gyre);
    for (u32 by = 2; by * by < most_of; by++) {
        if (!scratch->composite[by])
            for (u32 i = by * (by + lane); i < most_of; i += by * lanes)
                scratch->composite[i] = 1;
        gyre_barrier(gyre);
    }
    u32 mine = 0;
    for (u32 i = lane; i < most_of; i += lanes)
        mine += !scratch->composite[i];
    const u32 count = gyre_block_sum_u32(gyre, mine);
    if (lane == 0)
        reply->count = count;
    return GYRE_REPLY;
}
