/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes take places in a list by an atomic counter, and sort the list by rank: where each was listed does not matter.
 *
 * expects: nothing
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

typedef struct ranks_work {
    u32 next, values[16];
} ranks_work;

GYRE_BLOCK_KERNEL(ranks, row, row, ranks_work)
{
    const u32 lane = gyre_lane(gyre);
    u32 rank = 0;
    if (lane == 7)
        scratch->next = 0;
    gyre_barrier(gyre);
    scratch->values[gyre_atomic_add(&scratch->next, 1u)] = request->values[lane] * 16 + lane;
    gyre_barrier(gyre);
    const u32 mine = scratch->values[lane];
    for (u32 i = 0; i < 16; i++)
        rank += scratch->values[i] < mine;
    reply->values[rank] = mine / 16;
    return GYRE_REPLY;
}
