/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose handlers are called again: in a file of their own, because GPUs work all kernels of such a file one message at a time. */
#include <gyre/kernel.h>

#include "cycles.h"

#define POUR_PORTS(PORT) PORT(walk, next, 4)
GYRE_PORTS(pour_ports, POUR_PORTS)

/* Emits the numbers below `left`, four a call. Then it ends as the message says. */
GYRE_HELPER gyre_result pour_out(gyre_context *gyre, pour_ports *ports, const GYRE_GLOBAL walk *request,
                                 GYRE_GLOBAL walk *reply)
{
    const u32 first = gyre_turn(gyre) * 4;
    for (u32 i = first; i < first + 4 && i < request->left; i++) {
        GYRE_GLOBAL walk *out = gyre_emit(gyre, next);
        *out = *request;
        out->number = i;
        out->what = WALK_ON;
    }
    if (first + 4 < request->left)
        return GYRE_MORE;
    *reply = *request;
    reply->sum = gyre_turn(gyre);
    return request->what == WALK_FAIL     ? gyre_fail(gyre, 3, "as told")
           : request->what == WALK_ANSWER ? GYRE_REPLY
                                          : GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(pour, walk, walk, pour_ports)
{
    return pour_out(gyre, ports, request, reply);
}

GYRE_BLOCK_KERNEL_TO(pour_by_lanes, walk, walk, pour_ports, walk)
{
    const u32 first = gyre_turn(gyre) * 4;
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0)
        return pour_out(gyre, ports, request, reply);
    return first + 4 < request->left ? GYRE_MORE : GYRE_NO_REPLY;
}

#define ONE_PORTS(PORT) PORT(walk, next, 1)
GYRE_PORTS(one_ports, ONE_PORTS)

/*
 * Emits so many numbers, one a call, and counts the calls in the memory of the flow. Tells a client that asks what it finds
 * there.
 */
GYRE_FLOW(pour_counted, partial)
GYRE_KERNEL_TO(pour_counted, walk, walk, one_ports)
{
    GYRE_GLOBAL partial *flow = gyre_flow(gyre, pour_counted);
    *reply = *request;
    reply->sum = flow->seen;
    if (request->what == WALK_TELL) {
        flow->seen += 1000;
        return GYRE_REPLY;
    }
    GYRE_GLOBAL walk *out = gyre_emit(gyre, next);
    *out = *request;
    out->what = WALK_ON;
    out->number = flow->seen != gyre_turn(gyre);
    flow->seen++;
    return gyre_turn(gyre) + 1 < request->left ? GYRE_MORE : GYRE_NO_REPLY;
}
