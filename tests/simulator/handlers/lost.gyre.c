/* SPDX-License-Identifier: Apache-2.0 */
/* An addition in two atomic steps: no race, and a sum is lost when another lane runs between the two.
 * call: --check schedule --seeds 50 --lanes 8
 * request: ONE
 * request: ONE
 * fails: differs with the order: seeds 1, 
 * says: reads state->total at 
 * says: /lost.gyre.c:@1 (`
 * says: /lost.gyre.c:@2 (`
 * says: check schedule: the order in which lanes run decides what is in the state or in buffers afterwards
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL_WITH(lost, ask, answer, gyre_none, kept, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    gyre_atomic_add(&state->total, request->values[lane]);
#else
    const u64 total = gyre_atomic_load(&state->total);               /* 1 */
    gyre_atomic_store(&state->total, total + request->values[lane]); /* 2 */
#endif
    reply->sums[lane] = request->values[lane];
    if (lane == 0) {
        reply->sum = 0;
        for (u32 i = gyre_lane_count(gyre); i < 16; i++)
            reply->sums[i] = 0;
    }
    return GYRE_REPLY;
}
