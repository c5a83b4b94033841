/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier is missing between what lanes store and what other lanes read.
 * call: --check races --lanes 16
 * request: ONE
 * fails: @2 and @1: race, lanes 0 8
 * says: lane 8 writes bytes 32 to 35 of the scratch at
 * says: , and no barrier is between the two; request: {"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"which":0}
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 sums[16];
} work;

GYRE_BLOCK_KERNEL(barrier, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->sums[lane] = request->values[lane]; /* 1 */
#ifdef MENDED
    gyre_barrier(gyre);
#endif
    for (u32 step = 8; step > 0; step /= 2) {
        if (lane < step)
            scratch->sums[lane] += scratch->sums[lane + step]; /* 2 */
        gyre_barrier(gyre);
    }
    if (lane == 0)
        reply->sum = scratch->sums[0];
    return GYRE_REPLY;
}
