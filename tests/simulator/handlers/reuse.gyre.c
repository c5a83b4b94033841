/* SPDX-License-Identifier: Apache-2.0 */
/* A loop stores anew what slower lanes still read from its last turn.
 * call: --check races --lanes 4
 * request: ONE
 * fails: @2 and @1: race, lanes 0 1
 * says: writes bytes 4 to 7 of the scratch at
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[4];
} work;

GYRE_BLOCK_KERNEL(reuse, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    u32 sum = 0;
    for (u32 turn = 0; turn < 4; turn++) {
        scratch->cells[lane] = request->values[4 * turn + lane]; /* 1 */
        gyre_barrier(gyre);
        sum += scratch->cells[(lane + 1) % 4]; /* 2 */
#ifdef MENDED
        gyre_barrier(gyre);
#endif
    }
    reply->sums[lane] = sum;
    return GYRE_REPLY;
}
