/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of PageRank on a graph in device buffers. */
#include <gyre/kernel.h>

#include "pagerank.h"

GYRE_BUFFERS(pagerank_buffers, PAGERANK_BUFFERS)

/* What flows into one page along its incoming links. */
GYRE_HELPER f32 gather(const pagerank_buffers *graph, u32 page)
{
    f32 sum = 0;
    for (u32 link = graph->row_starts[page]; link < graph->row_starts[page + 1]; link++)
        sum = sum + graph->weights[link] * graph->ranks[graph->sources[link]];
    return sum;
}

GYRE_BLOCK_KERNEL_WITH(pagerank, pagerank_request, pagerank_reply, gyre_none, gyre_none, pagerank_buffers)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre), pages = (u32)buffers->ranks_count;
    const f32 base = (1.0f - request->damping) / (f32)pages;
    f32 change = 0, total = 0, most = 0;
    if (!gyre_assert(gyre, buffers->row_starts_count == pages + 1 && buffers->next_count == pages))
        return GYRE_FAILED;
    for (u32 turn = 0; turn < request->turns; turn++) {
        change = 0;
        for (u32 page = lane; page < pages; page += lanes) {
            buffers->next[page] = base + request->damping * gather(buffers, page);
            change = fmaxf(change, fabsf(buffers->next[page] - buffers->ranks[page]));
        }
        gyre_barrier(gyre);
        for (u32 page = lane; page < pages; page += lanes)
            buffers->ranks[page] = buffers->next[page];
        gyre_barrier(gyre);
    }
    for (u32 page = lane; page < pages; page += lanes) {
        total = total + buffers->ranks[page];
        most = fmaxf(most, buffers->ranks[page]);
    }
    total = gyre_block_sum_f32(gyre, total);
    change = gyre_block_max_f32(gyre, change);
    const f32 highest = gyre_block_max_f32(gyre, most);
    u32 where = 0xffffffffu;
    for (u32 page = lane; page < pages && where == 0xffffffffu; page += lanes)
        where = buffers->ranks[page] == highest ? page : where;
    where = gyre_block_min_u32(gyre, where);
    if (lane == 0) {
        reply->total = total;
        reply->change = change;
        reply->highest = where;
    }
    return GYRE_REPLY;
}
