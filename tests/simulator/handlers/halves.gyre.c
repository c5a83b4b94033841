/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of the upper half store while those of the lower half add up, in the same phase.
 * call: --check races --lanes 8
 * request: ONE
 * fails: @2 and @1: race, lanes 0 4
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[8];
} work;

GYRE_BLOCK_KERNEL(halves, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane >= 4)
        scratch->cells[lane] = request->values[lane]; /* 1 */
#ifdef MENDED
    gyre_barrier(gyre);
#endif
    if (lane < 4)
        reply->sums[lane] = scratch->cells[lane + 4]; /* 2 */
    return GYRE_REPLY;
}
