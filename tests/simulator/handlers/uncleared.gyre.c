/* SPDX-License-Identifier: Apache-2.0 */
/* Bins in the scratch are counted up, and nobody set them to 0 for this message.
 * call: --check races,memory --lanes 8
 * request: ONE
 * fails: @1: unwritten scratch
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 bins[8];
} work;

GYRE_BLOCK_KERNEL(uncleared, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    gyre_atomic_store(&scratch->bins[lane], 0u);
    gyre_barrier(gyre);
#endif
    gyre_atomic_add(&scratch->bins[request->values[lane] % 4], 1u); /* 1 */
    gyre_barrier(gyre);
#ifdef MENDED
    reply->sums[lane] = gyre_atomic_load(&scratch->bins[lane]);
#else
    reply->sums[lane] = gyre_atomic_load(&scratch->bins[lane % 4]);
#endif
    return GYRE_REPLY;
}
