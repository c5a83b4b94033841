/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts by exchanges of neighbours: each pair belongs to one lane, and pairs of a turn have nothing in common.
 *
 * expects: nothing
 * options: --lanes 8
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

GYRE_BLOCK_KERNEL(odd_even, row, row, row)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[2 * lane] = request->values[2 * lane];
    scratch->values[2 * lane + 1] = request->values[2 * lane + 1];
    for (u32 turn = 0; turn < 16; turn++) {
        const u32 left = 2 * lane + turn % 2;
        gyre_barrier(gyre);
        if (left + 1 < 16 && scratch->values[left] > scratch->values[left + 1]) {
            const u32 smaller = scratch->values[left + 1];
            scratch->values[left + 1] = scratch->values[left];
            scratch->values[left] = smaller;
        }
    }
    gyre_barrier(gyre);
    reply->values[lane] = scratch->values[lane];
    reply->values[lane + 8] = scratch->values[lane + 8];
    return GYRE_REPLY;
}
