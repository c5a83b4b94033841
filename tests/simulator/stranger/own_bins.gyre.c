/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane counts in bins of its own; behind the barrier each lane adds up one bin of all lanes.
 *
 * expects: nothing
 * options: --lanes 4
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define BINS(FIELD) FIELD(u32, bins[4])
GYRE_MESSAGE(bins, BINS)
typedef struct own_bins_work {
    u8 bins[4][4];
} own_bins_work;

GYRE_BLOCK_KERNEL(own_bins, row, bins, own_bins_work)
{
    const u32 lane = gyre_lane(gyre);
    u32 sum = 0;
    for (u32 i = 0; i < 4; i++)
        scratch->bins[lane][i] = 0;
    for (u32 i = lane; i < 16; i += 4)
        scratch->bins[lane][request->values[i] % 4]++;
    gyre_barrier(gyre);
    for (u32 i = 0; i < 4; i++)
        sum += scratch->bins[i][lane];
    reply->bins[lane] = sum;
    return GYRE_REPLY;
}
