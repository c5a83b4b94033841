/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a block count bytes in the scratch by atomic operations. */
#include <gyre/kernel.h>

#define TEXT(FIELD) FIELD(u8, bytes[512])
GYRE_MESSAGE(text, TEXT)
#define COUNTS(FIELD) FIELD(u32, counts[16])
GYRE_MESSAGE(counts, COUNTS)

typedef struct table {
    u32 bins[16];
} table;

GYRE_BLOCK_KERNEL(bins, text, counts, table)
{
    const u32 lane = gyre_lane(gyre);
    if (lane < 16)
        scratch->bins[lane] = 0;
    gyre_barrier(gyre);
    for (u32 i = lane; i < 512; i += gyre_lane_count(gyre))
        gyre_atomic_add(&scratch->bins[request->bytes[i] % 16u], 1u);
    gyre_barrier(gyre);
    if (lane < 16)
        reply->counts[lane] = scratch->bins[lane];
    return GYRE_REPLY;
}
