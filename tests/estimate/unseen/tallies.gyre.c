/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a block count what 128 bytes are, by atomic operations on bins in the scratch. */
#include <gyre/kernel.h>

#define BYTES(FIELD) FIELD(u8, bytes[128])
GYRE_MESSAGE(tallied, BYTES)
#define TALLIES(FIELD) FIELD(u32, counts[16])
GYRE_MESSAGE(tallies_of, TALLIES)
typedef struct tallies_work {
    u32 counts[16];
} tallies_work;

GYRE_BLOCK_KERNEL(tallies, tallied, tallies_of, tallies_work)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    for (u32 i = lane; i < 16; i += lanes)
        scratch->counts[i] = 0;
    gyre_barrier(gyre);
    for (u32 i = lane; i < 128; i += lanes)
        gyre_atomic_add(&scratch->counts[request->bytes[i] % 16], 1u);
    gyre_barrier(gyre);
    for (u32 i = lane; i < 16; i += lanes)
        reply->counts[i] = scratch->counts[i];
    return GYRE_REPLY;
}
