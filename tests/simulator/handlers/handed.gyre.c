/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes hand on a turn by a word of the scratch, and one hands it to nobody: the others wait at the barrier for the last one.
 * call: --check races,deadlock,schedule --seeds 20 --lanes 4
 * request: ONE
 * fails: @1: deadlock, waits for ever
 * says: check deadlock: nobody can go on: lanes 0 to 2 wait at
 * says: /handed.gyre.c:@2 (`gyre_barrier(gyre);
 * says: for another value of bytes 0 to 3 of the scratch
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 turn, sum;
} work;

GYRE_BLOCK_KERNEL(handed, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0) {
        gyre_atomic_store(&scratch->turn, 0u);
        gyre_atomic_store(&scratch->sum, 0u);
        for (u32 i = 0; i < 16; i++)
            reply->sums[i] = 0;
    }
    gyre_barrier(gyre);
    while (gyre_atomic_load(&scratch->turn) != lane) /* 1 */
        ;
    gyre_atomic_add(&scratch->sum, request->values[lane]);
#ifdef MENDED
    gyre_atomic_store(&scratch->turn, lane + 1);
#else
    gyre_atomic_store(&scratch->turn, lane == 2 ? 4 : lane + 1);
#endif
    gyre_barrier(gyre); /* 2 */
    if (lane == 0)
        reply->sum = gyre_atomic_load(&scratch->sum);
    return GYRE_REPLY;
}
