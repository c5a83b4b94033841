/* SPDX-License-Identifier: Apache-2.0 */
/* Counts values in the reply. Planted: lanes with equal values add to the same bin, and not atomically.
 *
 * expects: race
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define BINS(FIELD) FIELD(u32, bins[16])
GYRE_MESSAGE(bins, BINS)

GYRE_BLOCK_KERNEL(shared_bins, row, bins, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    reply->bins[lane] = 0;
    gyre_barrier(gyre);
    reply->bins[request->values[lane] % 16]++; /* first */ /* second */
    return GYRE_REPLY;
}
