/* SPDX-License-Identifier: Apache-2.0 */
/* PageRank by rounds: nobody counts messages, because a kernel is called when all shares of a round were added. */
#include <gyre/kernel.h>

#include "pagerank.h"

/* Which page links to which. */
GYRE_CONSTANT u32 link_from[LINKS] = {0, 0, 1, 2, 2, 3, 3, 4, 4};
GYRE_CONSTANT u32 link_to[LINKS] = {1, 2, 2, 0, 3, 2, 4, 0, 2};
GYRE_CONSTANT u32 links_of[PAGES] = {2, 1, 2, 2, 2};

#define SPREAD_PORTS(PORT) PORT(share, shares, LINKS)
GYRE_PORTS(spread_ports, SPREAD_PORTS)

/* Each page that has a rank shares it among the pages that it links to. */
GYRE_KERNEL_TO(spread, ranks, gyre_none, spread_ports)
{
    for (u32 i = 0; i < LINKS; i++) {
        const u32 page = link_from[i];
        if (request->rank[page] == 0)
            continue;
        GYRE_GLOBAL share *out = gyre_emit(gyre, shares);
        out->round = request->round;
        out->page = link_to[i];
        out->rank = request->rank[page] / links_of[page];
    }
    return GYRE_NO_REPLY;
}

struct sums {
    f64 rank[PAGES], last[PAGES];
};
GYRE_FLOW(collect, struct sums)

#define COLLECT_PORTS(PORT) PORT(ranks, again, 1)
GYRE_PORTS(collect_ports, COLLECT_PORTS)

/* Adds shares. When a round is over it answers, if no rank has changed by a millionth, or begins another one. */
GYRE_KERNEL_TO(collect, share, ranks, collect_ports)
{
    GYRE_GLOBAL struct sums *flow = gyre_flow(gyre, collect);
    if (!gyre_round(gyre)) {
        flow->rank[request->page] += request->rank;
        return GYRE_NO_REPLY;
    }
    f64 change = 0;
    reply->round = gyre_round(gyre);
    for (u32 i = 0; i < PAGES; i++) {
        reply->rank[i] = 0.15 / PAGES + 0.85 * flow->rank[i];
        change = fmax(change, fabs(reply->rank[i] - flow->last[i]));
        flow->last[i] = reply->rank[i];
        flow->rank[i] = 0;
    }
    if (change < 1e-6)
        return GYRE_REPLY;
    *gyre_emit(gyre, again) = *reply;
    return GYRE_NO_REPLY;
}
