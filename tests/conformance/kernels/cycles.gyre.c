/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that send back to those that they got a message from. */
#include <gyre/kernel.h>

#include "cycles.h"

#define STEP_PORTS(PORT) PORT(walk, next, 1)
GYRE_PORTS(step_ports, STEP_PORTS)

GYRE_HELPER void walk_on(GYRE_GLOBAL walk *out, const GYRE_GLOBAL walk *request)
{
    *out = *request;
    out->left--;
    out->sum += request->number;
}

/* Passes a message on as often as it says, and then answers with it. */
GYRE_KERNEL_TO(step, walk, walk, step_ports)
{
    *reply = *request;
    if (request->left == 0)
        return GYRE_REPLY;
    walk_on(gyre_emit(gyre, next), request);
    return GYRE_NO_REPLY;
}

#define HUB_PORTS(PORT) PORT(walk, left, 1) PORT(walk, right, 1)
GYRE_PORTS(hub_ports, HUB_PORTS)

/* As `step`, by one of two ways. */
GYRE_KERNEL_TO(hub, walk, walk, hub_ports)
{
    *reply = *request;
    if (request->left == 0)
        return GYRE_REPLY;
    walk_on(request->left / 2 % 2 ? gyre_emit(gyre, left) : gyre_emit(gyre, right), request);
    return GYRE_NO_REPLY;
}

#define GROW_PORTS(PORT) PORT(walk, more, 2) PORT(walk, leaves, 1)
GYRE_PORTS(grow_ports, GROW_PORTS)

/* A binary tree of that depth: each leaf has the number of its place. */
GYRE_KERNEL_TO(grow, walk, gyre_none, grow_ports)
{
    if (request->left == 0)
        *gyre_emit(gyre, leaves) = *request;
    for (u32 i = 0; i < 2 && request->left; i++) {
        GYRE_GLOBAL walk *out = gyre_emit(gyre, more);
        *out = *request;
        out->number = 2 * request->number + i;
        out->left--;
    }
    return GYRE_NO_REPLY;
}

/* Never ends by itself. */
GYRE_KERNEL_TO(swell, walk, gyre_none, grow_ports)
{
    *gyre_emit(gyre, more) = *request;
    *gyre_emit(gyre, more) = *request;
    return GYRE_NO_REPLY;
}

/* Adds numbers, and says to a client what they come to. */
GYRE_ACTOR(add, walk, walk, walk)
{
    if (request->what == WALK_TELL) {
        *reply = *state;
        return GYRE_REPLY;
    }
    state->sum += request->number;
    state->number++;
    return GYRE_NO_REPLY;
}

GYRE_FLOW(join, partial)

/* Answers with the sum of as many numbers as a tree of depth `what` has leaves. */
GYRE_KERNEL(join, walk, walk)
{
    GYRE_GLOBAL partial *flow = gyre_flow(gyre, join);
    flow->sum += request->number;
    if (++flow->seen < (u64)1 << request->what)
        return GYRE_NO_REPLY;
    *reply = *request;
    reply->sum = flow->sum;
    return GYRE_REPLY;
}

/* Has no memory, and names that of another kernel. */
GYRE_KERNEL(stranger, walk, walk)
{
    gyre_flow(gyre, join)->sum = request->number;
    *reply = *request;
    return GYRE_REPLY;
}

/* Names the memory of another kernel, by mistake. */
#define WRONG(FIELD) FIELD(u64, words[3])
GYRE_MESSAGE(wrong, WRONG)
GYRE_FLOW(mistaken, wrong)
GYRE_KERNEL(mistaken, walk, walk)
{
    gyre_flow(gyre, join)->seen++;
    return GYRE_NO_REPLY;
}
