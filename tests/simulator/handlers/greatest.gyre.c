/* SPDX-License-Identifier: Apache-2.0 */
/* The greatest number, by a load and a store, both atomic: a smaller one may be stored last.
 * call: --check schedule --seeds 50 --lanes 8
 * request: ONE
 * fails: differs with the order: seeds 1, 
 * says: check schedule: the order in which lanes run decides the result
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 greatest;
} work;

GYRE_BLOCK_KERNEL(greatest, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    for (u32 i = lane; i < 16; i += gyre_lane_count(gyre))
        reply->sums[i] = 0;
    if (lane == 0)
        gyre_atomic_store(&scratch->greatest, 0u);
    gyre_barrier(gyre);
#ifdef MENDED
    gyre_atomic_max(&scratch->greatest, request->values[lane]);
#else
    if (gyre_atomic_load(&scratch->greatest) < request->values[lane])
        gyre_atomic_store(&scratch->greatest, request->values[lane]); /* 1 */
#endif
    gyre_barrier(gyre);
    if (lane == 0)
        reply->sum = gyre_atomic_load(&scratch->greatest);
    return GYRE_REPLY;
}
