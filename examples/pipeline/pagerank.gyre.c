/* SPDX-License-Identifier: Apache-2.0 */
/* PageRank as a cycle: pages give shares of their rank to those that they link to, until the ranks stay as they are. */
#include <gyre/kernel.h>

#include "pagerank.h"

/* Which page links to which. */
GYRE_CONSTANT u32 link_from[LINKS] = {0, 0, 1, 2, 2, 3, 3, 4, 4};
GYRE_CONSTANT u32 link_to[LINKS] = {1, 2, 2, 0, 3, 2, 4, 0, 2};
GYRE_CONSTANT u32 links_of[PAGES] = {2, 1, 2, 2, 2};

#define SPREAD_PORTS(PORT) PORT(share, shares, LINKS)
GYRE_PORTS(spread_ports, SPREAD_PORTS)

/* Each page shares its rank among the pages that it links to. */
GYRE_KERNEL_TO(spread, ranks, gyre_none, spread_ports)
{
    for (u32 i = 0; i < LINKS; i++) {
        const u32 page = link_from[i];
        GYRE_GLOBAL share *out = gyre_emit(gyre, shares);
        out->round = request->round;
        out->page = link_to[i];
        out->rank = request->rank[page] / links_of[page];
    }
    return GYRE_NO_REPLY;
}

struct sums {
    f64 rank[PAGES];
    u32 seen;
};
GYRE_FLOW(collect, struct sums)

#define COLLECT_PORTS(PORT) PORT(ranks, sums, 1)
GYRE_PORTS(collect_ports, COLLECT_PORTS)

/* Adds the shares of a round, and passes the new ranks on with the last one. */
GYRE_KERNEL_TO(collect, share, gyre_none, collect_ports)
{
    GYRE_GLOBAL struct sums *flow = gyre_flow(gyre, collect);
    flow->rank[request->page] += request->rank;
    if (++flow->seen < LINKS)
        return GYRE_NO_REPLY;
    GYRE_GLOBAL ranks *out = gyre_emit(gyre, sums);
    out->round = request->round + 1;
    for (u32 i = 0; i < PAGES; i++) {
        out->rank[i] = 0.15 / PAGES + 0.85 * flow->rank[i];
        flow->rank[i] = 0;
    }
    flow->seen = 0;
    return GYRE_NO_REPLY;
}

GYRE_FLOW(judge, ranks)

#define JUDGE_PORTS(PORT) PORT(ranks, again, 1)
GYRE_PORTS(judge_ports, JUDGE_PORTS)

/* Answers when no rank has changed by a millionth, and begins another round otherwise. */
GYRE_KERNEL_TO(judge, ranks, ranks, judge_ports)
{
    GYRE_GLOBAL ranks *flow = gyre_flow(gyre, judge);
    f64 change = 0;
    for (u32 i = 0; i < PAGES; i++)
        change = fmax(change, fabs(request->rank[i] - flow->rank[i]));
    *flow = *request;
    *reply = *request;
    if (change < 1e-6)
        return GYRE_REPLY;
    *gyre_emit(gyre, again) = *request;
    return GYRE_NO_REPLY;
}
