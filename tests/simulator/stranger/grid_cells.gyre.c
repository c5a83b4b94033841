/* SPDX-License-Identifier: Apache-2.0 */
/* All lanes of a grid write a cell each, and read that of the next lane, which may be one of another block: a barrier of the block is too small.
 *
 * expects: race
 * options: --lanes 16 --blocks 2
 * request: {"add":3} */
#include <gyre/kernel.h>

#define STEP(FIELD) FIELD(u32, add)
GYRE_MESSAGE(step, STEP)
#define STEPPED(FIELD) FIELD(u32, first)
GYRE_MESSAGE(stepped, STEPPED)
#define CELLS(FIELD) FIELD(u32, cells[128])
GYRE_MESSAGE(cells, CELLS)

GYRE_GRID_KERNEL_WITH(grid_cells, step, stepped, gyre_none, cells, gyre_none)
{
    const u32 lane = gyre_grid_lane(gyre), lanes = gyre_grid_lane_count(gyre);
    u32 next;
    if (!gyre_assert(gyre, lanes <= 128))
        return GYRE_FAILED;
    state->cells[lane] = lane + request->add; /* first */
    gyre_barrier(gyre);
    next = state->cells[(lane + 1) % lanes]; /* second */
    gyre_grid_barrier(gyre);
    if (lane == 0)
        reply->first = next;
    return GYRE_REPLY;
}
