/* SPDX-License-Identifier: Apache-2.0 */
/* The largest value of a row. Planted: the comparison is atomic, the store is not.
 *
 * expects: race
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define LARGEST(FIELD) FIELD(u32, value)
GYRE_MESSAGE(largest, LARGEST)

GYRE_BLOCK_KERNEL(half_atomic, row, largest, largest)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        scratch->value = 0;
    gyre_barrier(gyre);
    if (request->values[lane] > gyre_atomic_load(&scratch->value)) /* first */
        scratch->value = request->values[lane];                    /* second */
    gyre_barrier(gyre);
    if (lane == 0)
        reply->value = scratch->value;
    return GYRE_REPLY;
}
