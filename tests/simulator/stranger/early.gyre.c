/* SPDX-License-Identifier: Apache-2.0 */
/* The last lane makes the scale that all lanes use, a barrier too late.
 *
 * expects: unwritten
 * options: --lanes 4
 * request: {"values":[1,2,3,4]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[4])
GYRE_MESSAGE(row, ROW)
typedef struct work {
    u32 values[4], scale;
} work;

GYRE_BLOCK_KERNEL(early, row, row, work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[lane] = request->values[lane];
    gyre_barrier(gyre);
    const u32 next = scratch->values[(lane + 1) % 4] * scratch->scale; /* first */
    gyre_barrier(gyre);
    if (lane == 3)
        scratch->scale = scratch->values[0] + 1; /* second */
    gyre_barrier(gyre);
    reply->values[lane] = next * scratch->scale;
    return GYRE_REPLY;
}
