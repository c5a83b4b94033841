/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane sets a bit of its own, but all bits are of one word.
 * call: --check races --lanes 8
 * request: ONE
 * fails: @1: race, lanes 0 1
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 flags;
    u8 bytes[8];
} work;

GYRE_BLOCK_KERNEL(flags, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        scratch->flags = 0;
    scratch->bytes[lane] = (u8)request->values[lane]; /* neighbours in a word, and no race */
    gyre_barrier(gyre);
#ifdef MENDED
    gyre_atomic_or(&scratch->flags, 1u << lane);
#else
    scratch->flags |= 1u << lane; /* 1 */
#endif
    gyre_barrier(gyre);
    if (lane == 0)
        reply->sum = scratch->flags + scratch->bytes[7];
    return GYRE_REPLY;
}
