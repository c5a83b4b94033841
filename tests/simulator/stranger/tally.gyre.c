/* SPDX-License-Identifier: Apache-2.0 */
/* Counts even values by an atomic counter in the scratch. Planted: nobody sets the counter to zero first.
 *
 * expects: unwritten
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define EVEN(FIELD) FIELD(u32, even)
GYRE_MESSAGE(even_of, EVEN)

GYRE_BLOCK_KERNEL(tally, row, even_of, even_of)
{
    const u32 lane = gyre_lane(gyre);
    if (request->values[lane] % 2 == 0)
        gyre_atomic_add(&scratch->even, 1u); /* first */
    gyre_barrier(gyre);
    if (lane == 0)
        reply->even = scratch->even;
    return GYRE_REPLY;
}
