/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up as many values as the request says, by a tree. Planted: with an odd number of values the tree reads one that
 * nobody wrote.
 *
 * expects: unwritten
 * options: --lanes 8
 * request: {"count":8,"values":[1,2,3,4,5,6,7,8]}
 * request: {"count":7,"values":[1,2,3,4,5,6,7,8]} */
#include <gyre/kernel.h>

#define SOME(FIELD) FIELD(u32, count) FIELD(u32, values[8])
GYRE_MESSAGE(some, SOME)
#define SUM(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(sum_of, SUM)
typedef struct tree_work {
    u32 values[8];
} tree_work;

GYRE_BLOCK_KERNEL(tree_odd, some, sum_of, tree_work)
{
    const u32 lane = gyre_lane(gyre);
    u32 left = request->count;
    if (lane < left)
        scratch->values[lane] = request->values[lane];
    gyre_barrier(gyre);
    while (left > 1) {
        left = (left + 1) / 2;
        if (lane < left)
            scratch->values[lane] += scratch->values[lane + left]; /* first */
        gyre_barrier(gyre);
    }
    if (lane == 0)
        reply->sum = scratch->values[0];
    return GYRE_REPLY;
}
