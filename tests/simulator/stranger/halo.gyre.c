/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes fetch a tile of 8 values and the two beside it. Planted: the right neighbour is fetched to the place of the last
 * value of the tile.
 *
 * expects: race
 * options: --lanes 8
 * request: {"values":[1,2,4,8,16,32,64,128,256,512]} */
#include <gyre/kernel.h>

#define TILE(FIELD) FIELD(i32, values[10])
GYRE_MESSAGE(tile, TILE)
#define EDGES(FIELD) FIELD(i32, values[8])
GYRE_MESSAGE(edges, EDGES)

GYRE_BLOCK_KERNEL(halo, tile, edges, tile)
{
    const u32 lane = gyre_lane(gyre);
    scratch->values[lane + 1] = request->values[lane + 1]; /* first */
    if (lane == 0) {
        scratch->values[0] = request->values[0];
        scratch->values[8] = request->values[9]; /* second */
        scratch->values[9] = request->values[9];
    }
    gyre_barrier(gyre);
    reply->values[lane] = scratch->values[lane + 2] - scratch->values[lane];
    return GYRE_REPLY;
}
