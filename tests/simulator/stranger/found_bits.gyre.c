/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes set bits of one word atomically; behind the barrier it is read plainly.
 *
 * expects: nothing
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define FOUND(FIELD) FIELD(u32, bits) FIELD(u32, first)
GYRE_MESSAGE(found, FOUND)
typedef struct bits_work {
    u32 bits, first;
} bits_work;

GYRE_BLOCK_KERNEL(found_bits, row, found, bits_work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0) {
        scratch->bits = 0;
        scratch->first = 16;
    }
    gyre_barrier(gyre);
    if (request->values[lane] == 9) {
        gyre_atomic_or(&scratch->bits, 1u << lane);
        gyre_atomic_min(&scratch->first, lane);
    }
    gyre_barrier(gyre);
    if (lane == 15)
        reply->bits = scratch->bits;
    if (lane == scratch->first)
        reply->first = lane;
    return GYRE_REPLY;
}
