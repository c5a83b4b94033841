/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics on scratch memory; a failure that all lanes agree on. */
#include <gyre/kernel.h>

#include "sieve.h"

GYRE_HELPER void cross_out(GYRE_SHARED sieve_scratch *scratch, u32 factor, u32 limit)
{
    for (u32 n = factor * factor; n < limit; n += factor)
        gyre_atomic_or(&scratch->composite[n / 32], 1u << n % 32);
}

GYRE_BLOCK_KERNEL(sieve, sieve_request, sieve_reply, sieve_scratch)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre), limit = request->limit;
    if (limit > SIEVE_WORDS * 32)
        return gyre_fail(gyre, 1, "limit is too high");
    for (u32 i = lane; i < SIEVE_WORDS; i += lanes)
        scratch->composite[i] = 0;
    if (lane == 0) {
        scratch->count = 0;
        scratch->largest = 0;
        scratch->sum = 0;
    }
    gyre_barrier(gyre);
    for (u32 factor = 2 + lane; factor * factor < limit; factor += lanes)
        cross_out(scratch, factor, limit);
    gyre_barrier(gyre);
    for (u32 n = 2 + lane; n < limit; n += lanes) {
        if (scratch->composite[n / 32] >> n % 32 & 1)
            continue;
        gyre_atomic_add(&scratch->count, 1u);
        gyre_atomic_max(&scratch->largest, n);
        gyre_atomic_add(&scratch->sum, (u64)n);
    }
    gyre_barrier(gyre);
    if (lane == 0) {
        reply->count = scratch->count;
        reply->largest = scratch->largest;
        reply->sum = scratch->sum;
    }
    return GYRE_REPLY;
}
