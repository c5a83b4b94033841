/* SPDX-License-Identifier: Apache-2.0 */
/* An array of the scratch is overrun by one, into the member behind it.
 * call: --check memory --lanes 4
 * request: ONE
 * fails: @1: index 4 of cells[4]
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[4];
    u32 more;
} work;

GYRE_BLOCK_KERNEL(overrun, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    scratch->cells[(lane + 1) % 4] = request->values[lane];
#else
    scratch->cells[lane + 1] = request->values[lane]; /* 1 */
#endif
    gyre_barrier(gyre);
    if (lane == 0)
        reply->sum = scratch->cells[1];
    return GYRE_REPLY;
}
