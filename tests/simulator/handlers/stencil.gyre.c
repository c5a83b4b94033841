/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane writes the mean of its neighbours where the neighbours still read.
 * call: --check races --lanes 8
 * request: ONE
 * fails: @2 and @1: race, lanes 0 1
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[8];
} work;

GYRE_BLOCK_KERNEL(stencil, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->cells[lane] = request->values[lane];
    gyre_barrier(gyre);
    const u32 mean = (scratch->cells[(lane + 7) % 8] + scratch->cells[(lane + 1) % 8]) / 2; /* 1 */
#ifdef MENDED
    gyre_barrier(gyre);
#endif
    scratch->cells[lane] = mean; /* 2 */
    gyre_barrier(gyre);
    reply->sums[lane] = scratch->cells[7 - lane];
    return GYRE_REPLY;
}
