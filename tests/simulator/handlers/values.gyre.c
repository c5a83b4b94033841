/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a lane meets the others depends on the numbers of the request.
 * call: --check deadlock --lanes 4
 * request: ONE
 * fails: @1: lane 2 waits, 0 ended
 * says: check deadlock: the lanes of the block do not meet at one barrier
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL(values, ask, answer, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    gyre_barrier(gyre);
#else
    if (request->values[lane] > 2)
        gyre_barrier(gyre); /* 1 */
#endif
    reply->sums[lane] = request->values[lane];
    return GYRE_REPLY;
}
