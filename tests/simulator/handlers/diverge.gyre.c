/* SPDX-License-Identifier: Apache-2.0 */
/* Some lanes return before a barrier, where the others wait for them.
 * call: --check deadlock --lanes 8
 * request: ONE
 * fails: @2: lane 0 waits, 5 ended
 * says: check deadlock: the lanes of the block do not meet at one barrier: lanes 0 to 4 wait at
 * says: diverge.gyre.c:@2 (`gyre_barrier(gyre);
 * says: lanes 5 to 7 ended after
 * says: diverge.gyre.c:@1 (`scratch->cells[lane] = request->values[lane];
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[8];
} work;

GYRE_BLOCK_KERNEL(diverge, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->cells[lane] = request->values[lane]; /* 1 */
#ifndef MENDED
    if (lane > 4)
        return GYRE_REPLY;
#endif
    gyre_barrier(gyre); /* 2 */
    if (lane == 0)
        reply->sum = scratch->cells[4];
    return GYRE_REPLY;
}
