/* SPDX-License-Identifier: Apache-2.0 */
/* A running sum whose steps read and write the same cells.
 * call: --check races --lanes 16
 * request: ONE
 * fails: @1: race, lanes 1 2
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[16];
} work;

GYRE_BLOCK_KERNEL(scan, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->cells[lane] = request->values[lane];
    gyre_barrier(gyre);
    for (u32 step = 1; step < 16; step *= 2) {
#ifdef MENDED
        const u32 before = lane >= step ? scratch->cells[lane - step] : 0;
        gyre_barrier(gyre);
        scratch->cells[lane] += before;
#else
        if (lane >= step)
            scratch->cells[lane] += scratch->cells[lane - step]; /* 1 */
#endif
        gyre_barrier(gyre);
    }
    reply->sums[lane] = scratch->cells[lane];
    return GYRE_REPLY;
}
