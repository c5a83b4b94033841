/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that ask each other. */
#include <gyre/kernel.h>

#include "asks.h"

#define THINK_PORTS(PORT, ASK) ASK(riddle, riddle, left, 2) ASK(riddle, riddle, right, 2)
GYRE_PORTS_WITH_ASKS(think_ports, THINK_PORTS)

/* What a kernel has begun to answer for one request: it may be asked again before it has. */
enum { THOUGHTS = 512, THOUGHT_ASKS = 2 };
struct thoughts {
    u64 sums[THOUGHTS];
    u32 waits[THOUGHTS];
    u32 count;
};

/* A question: asks others, or answers. The token of an ask says which thought it is for, and which number it has there. */
GYRE_HELPER gyre_result begin_thought(gyre_context *gyre, think_ports *ports,
                                      GYRE_GLOBAL struct thoughts *flow, const GYRE_GLOBAL riddle *request,
                                      GYRE_GLOBAL riddle *reply)
{
    const u32 count = riddle_count(request->seed, request->deep);
    if (riddle_fails(request->seed))
        return gyre_fail(gyre, RIDDLE_FAILURE, "as told");
    *reply = *request;
    reply->sum = riddle_mix(request->seed, 300);
    if (count == 0)
        return GYRE_REPLY;
    const u32 thought = gyre_atomic_add(&flow->count, 1u);
    if (thought >= THOUGHTS)
        return gyre_fail(gyre, 1, "too many thoughts");
    flow->sums[thought] = reply->sum;
    flow->waits[thought] = count;
    for (u32 i = 0; i < count; i++) {
        const u64 seed = riddle_mix(request->seed, i);
        const u32 token = 1 + thought * THOUGHT_ASKS + i;
        GYRE_GLOBAL riddle *out = seed % 2 ? gyre_ask(gyre, left, token) : gyre_ask(gyre, right, token);
        *out = *request;
        out->seed = seed;
        out->deep--;
    }
    return GYRE_NO_REPLY;
}

/* An answer: the last one ends the thought. */
GYRE_HELPER gyre_result end_thought(gyre_context *gyre, GYRE_GLOBAL struct thoughts *flow,
                                    const GYRE_GLOBAL riddle *request, GYRE_GLOBAL riddle *reply)
{
    const u32 thought = (gyre_token(gyre) - 1) / THOUGHT_ASKS, number = (gyre_token(gyre) - 1) % THOUGHT_ASKS;
    gyre_atomic_add(&flow->sums[thought], request->sum * (number + 3));
    if (gyre_atomic_sub(&flow->waits[thought], 1u) > 1)
        return GYRE_NO_REPLY;
    *reply = *request;
    reply->sum = gyre_atomic_load(&flow->sums[thought]);
    return GYRE_REPLY;
}

GYRE_FLOW(think, struct thoughts)
GYRE_KERNEL_TO(think, riddle, riddle, think_ports)
{
    GYRE_GLOBAL struct thoughts *flow = gyre_flow(gyre, think);
    return gyre_token(gyre) ? end_thought(gyre, flow, request, reply)
                            : begin_thought(gyre, ports, flow, request, reply);
}

GYRE_FLOW(think_by_lanes, struct thoughts)
GYRE_BLOCK_KERNEL_TO(think_by_lanes, riddle, riddle, think_ports, riddle)
{
    GYRE_GLOBAL struct thoughts *flow = gyre_flow(gyre, think_by_lanes);
    const u32 token = gyre_token(gyre);
    gyre_barrier(gyre);
    if (gyre_lane(gyre) > 0)
        return token == gyre_token(gyre) ? GYRE_NO_REPLY : gyre_fail(gyre, 2, "another token");
    return token ? end_thought(gyre, flow, request, reply) : begin_thought(gyre, ports, flow, request, reply);
}

/* Asks both others once, or nobody. Its answer has the tokens in the order in which their answers came. */
struct order {
    u64 seen;
};
GYRE_FLOW(weigh, struct order)
GYRE_ACTOR_TO(weigh, riddle, riddle, think_ports, gyre_none)
{
    GYRE_GLOBAL struct order *flow = gyre_flow(gyre, weigh);
    if (gyre_token(gyre) == 0 && request->deep)
        return GYRE_NO_REPLY;
    if (gyre_token(gyre) == 0) {
        *gyre_ask(gyre, left, 1) = *request;
        *gyre_ask(gyre, right, 2) = *request;
        return GYRE_NO_REPLY;
    }
    flow->seen = flow->seen * 16 + gyre_token(gyre);
    *reply = *request;
    reply->sum = flow->seen;
    return flow->seen < 16 ? GYRE_NO_REPLY : GYRE_REPLY;
}

/* Asks `left` twice, and gives each answer on: one answer too many. */
GYRE_KERNEL_TO(blab, riddle, riddle, think_ports)
{
    *reply = *request;
    if (gyre_token(gyre))
        return GYRE_REPLY;
    *gyre_ask(gyre, left, 1) = *request;
    *gyre_ask(gyre, left, 2) = *request;
    return GYRE_NO_REPLY;
}

#define PASS_PORTS(PORT, ASK) PORT(riddle, rest, 1) ASK(riddle, riddle, about, 1)
GYRE_PORTS_WITH_ASKS(pass_ports, PASS_PORTS)

/* Asks as often as the message says, one a call, and answers with the sum of what it heard. */
struct heard {
    u64 sum;
    u32 count, left;
};
GYRE_FLOW(collect, struct heard)
GYRE_ACTOR_TO(collect, riddle, riddle, pass_ports, gyre_none)
{
    GYRE_GLOBAL struct heard *flow = gyre_flow(gyre, collect);
    if (gyre_token(gyre)) {
        flow->sum += request->sum * gyre_token(gyre);
        *reply = *request;
        reply->sum = flow->sum;
        return ++flow->count < flow->left ? GYRE_NO_REPLY : GYRE_REPLY;
    }
    GYRE_GLOBAL riddle *out = gyre_ask(gyre, about, gyre_turn(gyre) + 1);
    *out = *request;
    out->deep = 0;
    flow->left = request->what;
    return gyre_turn(gyre) + 1 < request->what ? GYRE_MORE : GYRE_NO_REPLY;
}

/* Asks once after the other, until `what` is 1. Then `deep` says how it ends: by a reply, by none, or by an ask that has no answer. */
GYRE_ACTOR_TO(repeat, riddle, riddle, pass_ports, gyre_none)
{
    if (request->what > 1 || request->deep == 2) {
        GYRE_GLOBAL riddle *out = gyre_ask(gyre, about, request->what);
        *out = *request;
        out->what--;
        return GYRE_NO_REPLY;
    }
    *reply = *request;
    return request->deep ? GYRE_NO_REPLY : GYRE_REPLY;
}

/* Answers its client, and asks all the same. */
GYRE_ACTOR_TO(doubt, riddle, riddle, pass_ports, gyre_none)
{
    *reply = *request;
    reply->sum = 5;
    if (gyre_token(gyre))
        return GYRE_NO_REPLY;
    *gyre_ask(gyre, about, 1) = *request;
    return GYRE_REPLY;
}

/* Answers where the message says so. */
GYRE_KERNEL(mute, riddle, riddle)
{
    *reply = *request;
    reply->sum = request->seed + gyre_token(gyre);
    return request->what == 0 ? GYRE_NO_REPLY : GYRE_REPLY;
}

/* Has ports, and no reply. */
GYRE_KERNEL_TO(pass, riddle, gyre_none, pass_ports)
{
    *gyre_emit(gyre, rest) = *request;
    return GYRE_NO_REPLY;
}

/* ---- several types ---- */

#define READER(TAKES) TAKES(riddle, verse) TAKES(verse, verse)
GYRE_PROTOCOL(reader, READER)
#define READER_PORTS(PORT, ASK) ASK(riddle, verse, poet, 2)
GYRE_PORTS_WITH_ASKS(reader_ports, READER_PORTS)

GYRE_ACTOR_OF_TO(reader, READER, reader_ports, gyre_none)
GYRE_HANDLER_TO(reader, riddle, verse)
{
    *gyre_ask(gyre, poet, 9) = *request;
    return GYRE_NO_REPLY;
}
GYRE_HANDLER_TO(reader, verse, verse)
{
    reply->number = request->number * 100 + gyre_token(gyre);
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
    return GYRE_REPLY;
}

GYRE_KERNEL(poet, riddle, verse)
{
    reply->number = (u32)request->seed;
    reply->text = gyre_new_text(gyre, reply, "to whom it may concern");
    return GYRE_REPLY;
}

/* Asks for verses, and takes riddles alone. */
GYRE_KERNEL_TO(deaf, riddle, gyre_none, reader_ports)
{
    *gyre_ask(gyre, poet, 1) = *request;
    return GYRE_NO_REPLY;
}
