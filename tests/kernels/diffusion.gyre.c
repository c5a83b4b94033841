/* SPDX-License-Identifier: Apache-2.0 */
/* A grid kernel: all blocks work on one message. Heat spreads in a ring of cells until it hardly changes any more. */
#include <gyre/kernel.h>

#include "diffusion.h"

#define DIFFUSION_BUFFERS(IN, INOUT) INOUT(i64, heat) INOUT(i64, next)
GYRE_BUFFERS(diffusion_buffers, DIFFUSION_BUFFERS)

/* One step for this lane's cells. Returns the largest change among them. */
GYRE_HELPER i64 spread(gyre_context *gyre, const GYRE_GLOBAL i64 *from, GYRE_GLOBAL i64 *to, u64 count)
{
    i64 most = 0;
    for (u64 i = gyre_grid_lane(gyre); i < count; i += gyre_grid_lane_count(gyre)) {
        const i64 heat = (from[(i + count - 1) % count] + 2 * from[i] + from[(i + 1) % count]) / 4;
        const i64 change = heat > from[i] ? heat - from[i] : from[i] - heat;
        most = change > most ? change : most;
        to[i] = heat;
    }
    return most;
}

/* The largest of what all blocks say. All lanes of all blocks call it, and get the same. */
GYRE_HELPER i64 most_of_all(gyre_context *gyre, GYRE_GLOBAL diffusion_state *state, i64 mine)
{
    mine = gyre_block_max_i64(gyre, mine);
    if (gyre_lane(gyre) == 0)
        state->change[gyre_block(gyre)] = mine;
    gyre_grid_barrier(gyre); /* all have written */
    for (u32 i = 0; i < gyre_block_count(gyre); i++)
        mine = state->change[i] > mine ? state->change[i] : mine;
    gyre_grid_barrier(gyre); /* all have read, and may write the next one */
    return mine;
}

GYRE_GRID_KERNEL_WITH(diffusion, diffusion_request, diffusion_reply, gyre_none, diffusion_state,
                      diffusion_buffers)
{
    GYRE_GLOBAL i64 *from = buffers->heat, *to = buffers->next;
    u32 steps = 0;
    i64 change = request->enough + (i64)1;
    if (!gyre_assert(gyre, gyre_block_count(gyre) <= DIFFUSION_BLOCKS))
        return GYRE_FAILED;
    for (; steps < request->steps && change > request->enough; steps++) {
        GYRE_GLOBAL i64 *const before = from;
        change = most_of_all(gyre, state, spread(gyre, from, to, buffers->heat_count));
        from = to;
        to = before;
    }
    for (u64 i = gyre_grid_lane(gyre); from != buffers->heat && i < buffers->heat_count;
         i += gyre_grid_lane_count(gyre))
        buffers->heat[i] = from[i];
    if (gyre_grid_lane(gyre) == 0)
        state->sum = 0;
    gyre_grid_barrier(gyre);
    for (u64 i = gyre_grid_lane(gyre); i < buffers->heat_count; i += gyre_grid_lane_count(gyre))
        gyre_atomic_add(&state->sum, buffers->heat[i]);
    gyre_grid_barrier(gyre);
    if (gyre_grid_lane(gyre) == 0) {
        reply->steps = steps;
        reply->change = (u32)change;
        reply->sum = state->sum;
    }
    return GYRE_REPLY;
}
