/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes make different numbers of rounds, with a barrier in each.
 * call: --check deadlock --lanes 4
 * request: ONE
 * fails: @1: lane 1 waits, 0 ended
 * says: check deadlock: the lanes of the block do not meet at one barrier
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL(rounds, ask, answer, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    u32 sum = 0;
#ifdef MENDED
    const u32 rounds = request->values[3];
#else
    const u32 rounds = request->values[lane];
#endif
    for (u32 i = 0; i < rounds; i++) {
        sum += i;
        gyre_barrier(gyre); /* 1 */
    }
    reply->sums[lane] = sum;
    return GYRE_REPLY;
}
