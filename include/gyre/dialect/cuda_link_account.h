/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that the lanes of a warp handle are accounted for together where they are of one flow: one atomic operation for all of them,
 * and one fence for the block. Each message took both, and a fence for the stores of several devices takes a microsecond. Included by
 * cuda_links.h; kernels whose messages are handled in turn have cuda_link_group.h.
 *
 * Until then the flow counts the messages as alive, so it cannot end before: it is as if their handlers had taken so long. What
 * they emitted is counted before it is published. Files with GYRE_LIMITED account for each message, whose quota is looked at.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_ACCOUNT_H
#define GYRE_DIALECT_CUDA_LINK_ACCOUNT_H

/*
 * Counts `count` messages off a flow, and returns how many were alive. Called behind a fence: what handlers wrote, and what was noted, is
 * there for whoever ends the flow. What others noted is there for the caller, if it does.
 */
GYRE_HELPER gyre_u32 gyre_account_take_(gyre_flow *flow, gyre_u32 count)
{
    gyre_u32 before;
    asm volatile("atom.acquire.sys.global.add.u32 %0,[%1],%2;"
                 : "=r"(before)
                 : "l"(&flow->alive), "r"(0 - count)
                 : "memory");
    return GYRE_FLOW_ALIVE_(before);
}

/*
 * Returns, in the first lane that has a message of a flow, by how many messages more the flow is alive, for all lanes of the warp;
 * fewer as a number below 0. In other lanes 0. `owes`: the lane has a message that counts; it emitted `sent`. Called by a whole warp.
 */
GYRE_HELPER gyre_i32 gyre_account_join_(gyre_u64 origin, gyre_u32 owes, gyre_u32 sent)
{
    const gyre_u64 flow = owes ? GYRE_FLOW_KEY_(origin) : ~(gyre_u64)0;
    const gyre_u32 same = __match_any_sync(GYRE_ALL_LANES, flow);
    const gyre_i32 mine = owes ? (gyre_i32)sent - 1 : 0;
    gyre_i32 more = -__popc(same);
    if (__any_sync(GYRE_ALL_LANES, sent)) {
        more = 0;
#pragma unroll 1
        for (int lane = 0; lane < 32; lane++) {
            const gyre_i32 its = __shfl_sync(GYRE_ALL_LANES, mine, lane);
            more += same >> lane & 1 ? its : 0;
        }
    }
    return owes && (threadIdx.x & 31) == (gyre_u32)__ffs((int)same) - 1 ? more : 0;
}

/*
 * Ends the flow, of which no message is alive: `out` becomes its completion. Returns where that goes; its payload may be there already
 * (bit 0).
 */
GYRE_OUTLINE_ gyre_u64 gyre_account_end_(const gyre_link_view_ *links, gyre_u64 origin, gyre_slot *out)
{
    gyre_flow *flow = gyre_flow_of_(links, origin);
    const gyre_link_entry_ *entry = gyre_entry_of_(links, origin);
    const gyre_u64 word = gyre_flow_word_(entry, origin); /* under way with the words of the flow */
    const gyre_u64 to = gyre_reply_of_(links, origin) | gyre_end_flow_(flow, out);
    out->sequence = gyre_index_by_(entry, origin, word) + 1;
    if (links->needs)
        gyre_entry_end_(links, origin, out->sequence - 1, to, out);
    return to;
}

#if GYRE_LIMITED
#define gyre_account_later_(links, message, out, sent)
#define GYRE_ACCOUNT_RUN_(K, links, message, cells, number, threads)
#else
/* The message, which is one of several of its flow, is accounted for by gyre_account_run_. `out`: its outcome. */
GYRE_HELPER void gyre_account_later_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                     const gyre_slot *out, gyre_u32 sent)
{
    if (out->info != GYRE_OUTCOME_NO_REPLY)
        gyre_note_outcome_(links, message->origin, out);
    message->owes = 1;
    message->sent = sent;
}

/* Counts what each flow is alive by more. Returns by how many messages fewer the flow of this lane's message is. Called by a whole warp. */
GYRE_HELPER gyre_u32 gyre_account_warp_(const gyre_link_view_ *links, const gyre_link_message_ *message)
{
    gyre_i32 more = 0;
    if (__any_sync(GYRE_ALL_LANES, message->owes))
        more = gyre_account_join_(message->origin, message->owes, message->sent);
    if (more > 0)
        gyre_flow_change_(gyre_flow_of_(links, message->origin), (gyre_u32)more);
    return more < 0 ? (gyre_u32)-more : 0;
}

/*
 * Accounts for the messages of a run of a link that `threads` lanes handled, before what they emitted is published. `out`: of the message
 * that this lane handled. Called by whole warps.
 */
GYRE_HELPER void gyre_account_run_(const gyre_link_view_ *links, gyre_link_message_ *message, gyre_slot *out,
                                   gyre_u32 threads)
{
    const gyre_u32 fewer = gyre_account_warp_(links, message);
    if (!(threads == 32 ? __any_sync(GYRE_ALL_LANES, (int)fewer) : __syncthreads_or((int)fewer)))
        return;
    if (threadIdx.x == 0)
        gyre_link_fence_(links->far);
    gyre_link_meet_(threads);
    if (fewer && gyre_account_take_(gyre_flow_of_(links, message->origin), fewer) == fewer)
        message->to = gyre_account_end_(links, message->origin, out);
}

#define GYRE_ACCOUNT_RUN_(K, links, message, cells, number, threads)                                         \
    do {                                                                                                     \
        if ((links)->run.from == GYRE_RUN_LINK)                                                              \
            gyre_account_run_(                                                                               \
                (links), (message),                                                                          \
                (gyre_slot *)((cells) + (number)*gyre_stage_<K>::cell + gyre_stage_<K>::request_chunks),     \
                (threads));                                                                                  \
    } while (0)
#endif

#endif
