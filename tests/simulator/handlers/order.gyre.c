/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes take places by an atomic counter, so nothing races, and the reply depends on who came first.
 * call: --check races,schedule --seeds 20 --lanes 8
 * request: ONE
 * fails: differs with the order: seeds 1, 2
 * says: check schedule: the order in which lanes run decides the result: seed 1 ends with {"sum":8,"sums":[
 * says: ; seed: 2
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 count;
} work;

GYRE_BLOCK_KERNEL(order, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    for (u32 i = lane; i < 16; i += gyre_lane_count(gyre))
        reply->sums[i] = 0;
    if (lane == 0)
        gyre_atomic_store(&scratch->count, 0u);
    gyre_barrier(gyre);
#ifdef MENDED
    gyre_atomic_add(&scratch->count, 1u);
    reply->sums[lane] = request->values[lane];
#else
    reply->sums[gyre_atomic_add(&scratch->count, 1u)] = request->values[lane]; /* 1 */
#endif
    gyre_barrier(gyre);
    if (lane == 0)
        reply->sum = gyre_atomic_load(&scratch->count);
    return GYRE_REPLY;
}
