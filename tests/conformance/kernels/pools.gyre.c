/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that put work into pools, and take it out. */
#include <gyre/kernel.h>

#include "pools.h"

#define DEAL_PORTS(PORT) PORT(prey, jobs, 8)
GYRE_PORTS(deal_ports, DEAL_PORTS)

/* Deals a request out as `wide` jobs, of which the last one is answered. */
GYRE_KERNEL_TO(deal, prey, gyre_none, deal_ports)
{
    for (u32 i = 0; i < request->wide; i++) {
        GYRE_GLOBAL prey *out = gyre_emit(gyre, jobs);
        if (!out)
            break;
        *out = *request;
        out->left = request->wide - i - 1;
    }
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(work, prey, prey)
{
    if (request->what == PREY_FAILS && request->left == 0)
        return gyre_fail(gyre, 9, "as told");
    if (request->left)
        return GYRE_NO_REPLY;
    *reply = *request;
    reply->leaves = 3 * request->number;
    return GYRE_REPLY;
}

#define HUNT_PORTS(PORT) PORT(prey, more, 3)
GYRE_PORTS(hunt_ports, HUNT_PORTS)
GYRE_FLOW(hunt, haul)

GYRE_HELPER void breed(GYRE_GLOBAL prey *out, const GYRE_GLOBAL prey *request, u32 child)
{
    *out = *request;
    out->number = request->number * request->wide + child;
    out->left--;
}

/* A tree whose nodes are messages. Whoever handles the last one answers with the number of leaves. */
GYRE_KERNEL_TO(hunt, prey, prey, hunt_ports)
{
    const u32 children = request->left ? request->wide : 0;
    const u32 turn = request->what == PREY_BY_TURNS ? gyre_turn(gyre) : 0;
    const u32 end = request->what == PREY_BY_TURNS ? turn + 1 : children;
    for (u32 i = turn; i < end && i < children; i++)
        breed(gyre_emit(gyre, more), request, i);
    if (request->what == PREY_FAILS && request->left == 0 && request->number == 5)
        return gyre_fail(gyre, 9, "as told");
    GYRE_GLOBAL haul *flow = gyre_flow(gyre, hunt);
    if (turn == 0) { /* once, before any child is seen */
        const u64 more = ((u64)children + (gyre_hop(gyre) == 0)) << HAUL_OPEN;
        gyre_atomic_add(&flow->word, more + (children == 0));
    }
    if (end < children)
        return GYRE_MORE;
    const u64 one = (u64)1 << HAUL_OPEN;
    const u64 left = gyre_atomic_sub(&flow->word, one) - one;
    if (left >> HAUL_OPEN)
        return GYRE_NO_REPLY;
    *reply = *request;
    reply->leaves = left;
    return GYRE_REPLY;
}

#define SPREAD_PORTS(PORT) PORT(prey, more, 2) PORT(prey, leaves, 1)
GYRE_PORTS(spread_ports, SPREAD_PORTS)

/* The same without memory of flows, so that several kernels share the work. */
GYRE_KERNEL_TO(spread, prey, gyre_none, spread_ports)
{
    if (request->left == 0)
        *gyre_emit(gyre, leaves) = *request;
    for (u32 i = 0; i < 2 && request->left; i++)
        breed(gyre_emit(gyre, more), request, i);
    return GYRE_NO_REPLY;
}

/* Adds numbers, and says to a client what they come to. */
GYRE_ACTOR(tell, prey, prey, prey)
{
    if (request->what == PREY_FAILS) {
        *reply = *state;
        return GYRE_REPLY;
    }
    state->leaves++;
    state->number += request->number;
    return GYRE_NO_REPLY;
}

#define PILE_PORTS(PORT) PORT(bulk, more, 2)
GYRE_PORTS(pile_ports, PILE_PORTS)
GYRE_FLOW(pile, haul)

/* As `hunt`, with messages that show whether another one was written over them. */
GYRE_KERNEL_TO(pile, bulk, bulk, pile_ports)
{
    u32 good = request->good;
    for (u32 i = 0; i < 2000; i++)
        good &= request->w[i] == request->number * 2000 + i;
    const u32 children = request->left ? 2 : 0;
    for (u32 child = 0; child < children; child++) {
        GYRE_GLOBAL bulk *out = gyre_emit(gyre, more);
        out->number = request->number * 2 + child;
        out->left = request->left - 1;
        out->good = good;
        for (u32 i = 0; i < 2000; i++)
            out->w[i] = out->number * 2000 + i;
    }
    if (!good)
        return gyre_fail(gyre, 8, "a message is not as it was sent");
    const u64 one = (u64)1 << HAUL_OPEN;
    const u64 more = ((u64)children + (gyre_hop(gyre) == 0)) << HAUL_OPEN;
    GYRE_GLOBAL haul *flow = gyre_flow(gyre, pile);
    const u64 left =
        gyre_atomic_add(&flow->word, more + (children == 0) - one) + more + (children == 0) - one;
    if (left >> HAUL_OPEN)
        return GYRE_NO_REPLY;
    *reply = *request;
    reply->number = left;
    return GYRE_REPLY;
}

/* Of another type than the others. */
GYRE_KERNEL(other, haul, haul)
{
    *reply = *request;
    return GYRE_REPLY;
}
