/* SPDX-License-Identifier: Apache-2.0 */
/* The lane that comes last adds up what the others stored before they counted: a counter orders nothing but itself.
 * call: --check races --lanes 4
 * request: ONE
 * fails: @1 and @2: race, lanes 0 3
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 count, parts[4];
} work;

GYRE_BLOCK_KERNEL(last, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        gyre_atomic_store(&scratch->count, 0u);
    gyre_barrier(gyre);
    scratch->parts[lane] = request->values[lane]; /* 1 */
#ifdef MENDED
    gyre_barrier(gyre);
    const u32 before = lane;
#else
    const u32 before = gyre_atomic_add(&scratch->count, 1u);
#endif
    u32 sum = 0;
    for (u32 i = 0; before == 3 && i < 4; i++)
        sum += scratch->parts[i]; /* 2 */
    if (before == 3)
        reply->sum = sum;
    return GYRE_REPLY;
}
