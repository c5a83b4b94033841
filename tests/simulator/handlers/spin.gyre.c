/* SPDX-License-Identifier: Apache-2.0 */
/* A lane waits for what another lane stores: it ends here only because lanes are switched at accesses, and it hands out a number
 * that other lanes may have changed.
 * call: --check schedule --seeds 30 --lanes 4
 * request: ONE
 * fails: differs with the order: seeds 1, 
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 there, number;
} work;

GYRE_BLOCK_KERNEL(spin, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0) {
        gyre_atomic_store(&scratch->there, 0u);
        gyre_atomic_store(&scratch->number, 0u);
        for (u32 i = 0; i < 16; i++)
            reply->sums[i] = 0;
    }
    gyre_barrier(gyre);
    gyre_atomic_add(&scratch->number, request->values[lane]);
    gyre_atomic_add(&scratch->there, 1u);
#ifdef MENDED
    while (lane == 0 && gyre_atomic_load(&scratch->there) < 4)
        ;
#else
    while (lane == 0 && gyre_atomic_load(&scratch->there) < 2)
        ;
#endif
    if (lane == 0)
        reply->sum = gyre_atomic_load(&scratch->number); /* 1 */
    return GYRE_REPLY;
}
