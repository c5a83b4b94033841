/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes add atomically, and one of them reads the number as any other.
 * call: --check races --lanes 8
 * request: ONE
 * fails: @2 and @1: race, lanes 0 1
 * says: reads
 * says: changes (atomically)
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 count;
} work;

GYRE_BLOCK_KERNEL(mixed, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        gyre_atomic_store(&scratch->count, 0u);
    gyre_barrier(gyre);
    gyre_atomic_add(&scratch->count, request->values[lane]); /* 1 */
#ifdef MENDED
    gyre_barrier(gyre);
#endif
    if (lane == 0)
        reply->sum = scratch->count; /* 2 */
    return GYRE_REPLY;
}
