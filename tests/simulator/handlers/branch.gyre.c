/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes wait at two different barriers.
 * call: --check deadlock --lanes 4
 * request: ONE
 * fails: @1 and @2: lanes 0 1 wait
 * says: lane 0 waits at
 * says: branch.gyre.c:@1 (`gyre_barrier(gyre);
 * says: branch.gyre.c:@2 (`gyre_barrier(gyre);
 * says: lanes 1 to 3 wait at
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL(branch, ask, answer, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    if (lane == 0)
        reply->sum = request->values[0];
    gyre_barrier(gyre);
#else
    if (lane == 0) {
        reply->sum = request->values[0];
        gyre_barrier(gyre); /* 1 */
    } else {
        gyre_barrier(gyre); /* 2 */
    }
#endif
    return GYRE_REPLY;
}
