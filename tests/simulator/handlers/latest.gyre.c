/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane stores its number in one word of the state, so the lane that comes last decides what is kept, and no lane reads it.
 * call: --check races,schedule --seeds 20 --lanes 4
 * request: ONE
 * fails: differs with the order: seeds 1, 
 * says: check schedule: the order in which lanes run decides what is in the state or in buffers afterwards
 * says: state->counts[0] is written last with seed 1 by lane 
 * says: /latest.gyre.c:@1 (`
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL_WITH(latest, ask, answer, gyre_none, kept, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    gyre_atomic_max(&state->counts[0], lane);
#else
    gyre_atomic_store(&state->counts[0], lane); /* 1 */
#endif
    if (lane == 0) {
        reply->sum = request->values[0];
        for (u32 i = 0; i < 16; i++)
            reply->sums[i] = 0;
    }
    return GYRE_REPLY;
}
