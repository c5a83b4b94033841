/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a flow, in files that are compiled with GYRE_ROUNDS, which implies GYRE_ASKS. Included by cuda_links.h. Without GYRE_ROUNDS all
 * of it is nothing.
 *
 * Where the last message of a flow was handled, and nobody replied or failed, a message of zeros goes to the kernel that begins rounds, by
 * the port behind the kernel's own ones whose ring says GYRE_TALK_ROUNDS. It is its flow's only message then, so counting begins anew. The
 * number of the round comes where the token of an answer does. These files handle messages in turn, so what begins a round is placed
 * behind what the block has placed already, and is published with it; there is room, because a message ends one flow at most.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_ROUNDS_H
#define GYRE_DIALECT_CUDA_LINK_ROUNDS_H

#if !GYRE_ROUNDS
#define GYRE_FLOW_ENDS_(links, origin, flow, out)                                                            \
    (gyre_reply_of_((links), (origin)) | gyre_end_flow_((flow), (out)))
#define GYRE_LINK_GOES_ON_(links, message, out)     0
#define GYRE_LINK_BEGIN_ROUNDS_(links, message)     ((void)0)
#define GYRE_LINK_NOTE_SENT_(links, message, count) ((void)0)
#else

/* The request of a flow emitted something, or is handled again, for the first time: there was no round yet, and nothing in it. */
#define GYRE_LINK_BEGIN_ROUNDS_(links, message) gyre_rounds_forget_(gyre_flow_of_((links), (message)->origin))
GYRE_HELPER void gyre_rounds_forget_(gyre_flow *flow)
{
    gyre_near_half_store_(&flow->rounds, 0);
    gyre_near_half_store_(&flow->stirred, 0);
}

/*
 * Notes that messages were emitted in this round. Called before they are published, which a fence orders: whoever ends the round was
 * handed on what this message caused.
 */
#define GYRE_LINK_NOTE_SENT_(links, message, count)                                                          \
    ((count) ? gyre_near_half_store_(&gyre_flow_of_((links), (message)->origin)->stirred, 1) : (void)0)

/* The block's ring by which rounds begin; NULL: the pipeline has none. */
GYRE_HELPER gyre_link_out_ *gyre_rounds_out_(const gyre_link_view_ *links)
{
#pragma unroll 1
    for (gyre_u32 i = links->port_count; i > 0; i--)
        if (links->outs[i - 1].use == GYRE_PORT_LINKED && links->outs[i - 1].talk == GYRE_TALK_ROUNDS)
            return (gyre_link_out_ *)&links->outs[i - 1];
    return 0;
}

/* Places the message of zeros that begins a round. Threads of a keyed actor may place at once: each takes a place of its own. */
GYRE_HELPER void gyre_rounds_place_(gyre_link_out_ *out, gyre_u64 origin, gyre_u32 round)
{
    const gyre_u64 at = atomicAdd(&out->next, (gyre_u64)1);
    gyre_link_slot *const slot = (gyre_link_slot *)(out->slots + (at & out->mask) * out->stride);
    gyre_link_ask *const ask = (gyre_link_ask *)(slot + 1);
    gyre_u64 *const payload = (gyre_u64 *)(ask + 1);
    slot->origin = (GYRE_ORIGIN_NEXT(origin) & ~GYRE_ORIGIN_KEPT_) | GYRE_ORIGIN_SOLE;
    slot->length = out->choice;
    ask->token = round;
    ask->depth = 0;
#pragma unroll 1
    for (gyre_u32 i = 0; i < (out->choice + 7) / 8; i++)
        payload[i] = 0;
}

/*
 * Begins another round of a flow that ends as `out` says. Returns whether it does: not when a handler replied or failed, and not when nothing
 * was emitted in the last round. The flow is this block's alone until it publishes. Called by the
 * thread that ends the flow: thread 0, or of a keyed actor each that handled a message.
 */
GYRE_OUTLINE_ gyre_u32 gyre_rounds_begin_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_slot *out)
{
    GYRE_IN_SHARED_(links);
    gyre_flow *const flow = gyre_flow_of_(links, origin);
    gyre_link_out_ *const to = gyre_rounds_out_(links);
    if (!to || out->info != GYRE_OUTCOME_NO_REPLY || !gyre_near_half_load_(&flow->stirred))
        return 0;
    const gyre_u32 round = gyre_near_half_load_(&flow->rounds) + 1;
    gyre_near_half_store_(&flow->rounds, round);
    gyre_near_half_store_(&flow->stirred, 0);
    gyre_near_half_store_((gyre_u32 *)&flow->asking, 0); /* what the last message took along was not added */
    gyre_rounds_place_(to, origin, round);
    return 1;
}

/* Ends a flow whose messages were counted. Returns where its completion goes, as gyre_settle_counted_; 0: another round begins. */
#define GYRE_FLOW_ENDS_(links, origin, flow, out) gyre_flow_ends_((links), (origin), (flow), (out))
GYRE_HELPER gyre_u64 gyre_flow_ends_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_flow *flow,
                                     gyre_slot *out)
{
    const gyre_u32 is_there = gyre_end_flow_(flow, out);
    return gyre_rounds_begin_(links, origin, out) ? 0 : gyre_reply_of_(links, origin) | is_there;
}

/* Whether a flow goes on whose only message was handled. What the flow of a request that emitted nothing says is of an earlier one. */
#define GYRE_LINK_GOES_ON_(links, message, out)                                                              \
    ((links)->run.from != GYRE_RUN_ENTRY && gyre_rounds_begin_((links), (message)->origin, (out)))
#endif

#endif
