/* SPDX-License-Identifier: Apache-2.0 */
/* Each block keeps a sum in a slot of its own. Planted: a block reads its neighbour's slot.
 *
 * expects: race
 * check: races
 * options: --lanes 4 --blocks 2
 * request: {"n":1}
 * request: {"n":2}
 * request: {"n":3}
 * request: {"n":4}
 * request: {"n":5}
 * request: {"n":6} */
#include <gyre/kernel.h>

#define NUM(FIELD) FIELD(u32, n)
GYRE_MESSAGE(num, NUM)
#define SUMS(FIELD) FIELD(u32, of_block[8])
GYRE_MESSAGE(sums, SUMS)

GYRE_BLOCK_KERNEL_WITH(neighbour_block, num, num, gyre_none, sums, gyre_none)
{
    const u32 block = gyre_block(gyre), other = (block + 1) % gyre_block_count(gyre);
    if (gyre_lane(gyre) == 0) {
        state->of_block[block] += request->n; /* first */
        reply->n = state->of_block[other];    /* second */
    }
    return GYRE_REPLY;
}
