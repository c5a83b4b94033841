/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes repeat a step until none of them changed anything: all read the same word between two barriers.
 *
 * expects: nothing
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

typedef struct until_work {
    u32 changed[2], values[16];
} until_work;

GYRE_BLOCK_KERNEL(until, row, row, until_work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[lane] = request->values[lane];
    if (lane < 2)
        scratch->changed[lane] = 0;
    gyre_barrier(gyre);
    for (u32 turn = 0;; turn++) {
        const u32 left = lane > 0 ? scratch->values[lane - 1] : 0, mine = scratch->values[lane];
        gyre_barrier(gyre);
        if (left > mine) {
            scratch->values[lane] = left;
            gyre_atomic_store(&scratch->changed[turn % 2], 1u);
        }
        gyre_barrier(gyre);
        if (scratch->changed[turn % 2] == 0)
            break;
        if (lane == 0) /* the other word: everybody read it a barrier ago */
            scratch->changed[1 - turn % 2] = 0;
    }
    reply->values[lane] = scratch->values[lane];
    return GYRE_REPLY;
}
