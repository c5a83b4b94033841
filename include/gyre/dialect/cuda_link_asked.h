/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What messages ask and answer, from the rings to the end of their flow, in files that are compiled with GYRE_ASKS. Included by
 * cuda_links.h. Without GYRE_ASKS all of it is nothing.
 *
 * In front of the payload of a message that asks or answers stands a gyre_link_ask (link_layout.h). It is fetched with the message, into
 * shared memory. The messages of these kernels are handled in turn. What their handlers ask and answer is in cuda_link_asks.h.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_ASKED_H
#define GYRE_DIALECT_CUDA_LINK_ASKED_H

#if !GYRE_ASKS
#define GYRE_LINK_FRONT_(type)                     0
#define GYRE_LINK_SKIPS_(links, run)               0
#define GYRE_LINK_FETCH_ASKS_(links, run)          ((void)0)
#define GYRE_LINK_STORE_ASKS_(links, run, threads) ((void)0)
#define GYRE_LINK_TAKE_TOKEN_(links, number, gyre) ((void)0)
#define GYRE_FLOW_ENDS_ASKING_(flow, answers, out) 0
#define GYRE_LINK_AWAIT_ASKS_(links)               ((void)0)
#define GYRE_LINK_TALKED_(links)                   0
#else

enum { GYRE_ASK_CHUNKS = sizeof(gyre_link_ask) / sizeof(gyre_chunk) };

/*
 * gyre_link_ask.depth of a message in a ring: in the lower byte how many of `returns` count; in the next one what the message changes in
 * the number of open asks of its flow, which it takes along; and GYRE_ASK_BY_LINES_ if it was stored by lines (cuda_link_talk.h).
 */
#define GYRE_ASK_BY_LINES_           0x80000000u
#define GYRE_ASK_DEPTH_(ask)         ((ask)->depth & 0xffu)
#define GYRE_ASK_CARRY_(ask)         ((gyre_i32)((ask)->depth << 16) >> 24)
#define GYRE_ASK_WORD_(depth, carry) ((depth) | ((gyre_u32)(carry)&0xffu) << 8 | GYRE_ASK_BY_LINES_)

/* Bytes between the header and the payload of what is emitted to a port of that type. */
#define GYRE_LINK_FRONT_(type)       ((type).asks ? (gyre_u32)sizeof(gyre_link_ask) : 0u)

/* ---- fetching ---- */

/* Where the ask of a kept message lies: at the end of its place. */
GYRE_HELPER gyre_u8 *gyre_ask_kept_(const gyre_link_view_ *links)
{
    return links->own + GYRE_LINK_OWN_SIZE - sizeof(gyre_link_ask);
}

/* Whether messages of the run have an ask in front, in their ring. */
GYRE_HELPER gyre_u32 gyre_link_talks_(const gyre_link_view_ *links, const gyre_link_run_ &run)
{
    if (run.from != GYRE_RUN_LINK || !run.ring)
        return 0;
    return run.which < GYRE_LINK_INLETS ? links->inlets[run.which].talk : GYRE_LINK_TALK_(run.ring);
}

/* Bytes that lie between the header and the payload in the ring of the run. */
#define GYRE_LINK_SKIPS_(links, run) (gyre_link_talks_((links), (run)) ? (gyre_u32)sizeof(gyre_link_ask) : 0u)

/* One piece of the asks of the run; zeros where its messages neither ask nor answer. */
GYRE_HELPER gyre_chunk gyre_ask_load_(const gyre_link_view_ *links, const gyre_link_run_ &run, gyre_u32 piece)
{
    const gyre_u32 number = piece / GYRE_ASK_CHUNKS, part = piece % GYRE_ASK_CHUNKS;
    if (number < run.count && GYRE_LINK_IS_KEPT_(links))
        return gyre_near_chunk_load_(gyre_ask_kept_(links) + 16 * part);
    if (number < run.count && gyre_link_talks_(links, run))
        return gyre_near_chunk_load_(run.slots +
                                     (gyre_link_index_(links, run, number) & run.mask) * run.stride +
                                     GYRE_SLOT_HEADER_SIZE + 16 * part);
    return {0, 0};
}

/* Loads this thread's first piece, together with the messages. */
#define GYRE_LINK_FETCH_ASKS_(links, run)                                                                    \
    const gyre_chunk gyre_first_piece_ = gyre_ask_load_((links), (run), threadIdx.x)
#define GYRE_LINK_STORE_ASKS_(links, run, threads)                                                           \
    gyre_link_store_asks_((links), (run), (threads), gyre_first_piece_)

/* Stores the asks of the run where its handlers find them. Called by `threads` threads. */
GYRE_HELPER void gyre_link_store_asks_(gyre_link_view_ *links, const gyre_link_run_ &run, gyre_u32 threads,
                                       gyre_chunk first)
{
    const gyre_u32 all = run.count * GYRE_ASK_CHUNKS;
    if (threadIdx.x < all)
        links->asks[threadIdx.x] = first;
#pragma unroll 1
    for (gyre_u32 piece = threadIdx.x + threads; piece < all; piece += threads)
        links->asks[piece] = gyre_ask_load_(links, run, piece);
}

/*
 * Waits until both lines of each message of the run are there, which may have been stored by lines (cuda_link_talk.h). Called by all
 * threads before they fetch the run.
 */
#define GYRE_LINK_AWAIT_ASKS_(links) gyre_link_await_asks_(links)
GYRE_HELPER void gyre_link_await_asks_(const gyre_link_view_ *links)
{
    const gyre_link_run_ &run = links->run;
    if (!gyre_link_talks_(links, run))
        return;
#pragma unroll 1
    for (gyre_u32 number = threadIdx.x; number < run.count; number += blockDim.x) {
        const gyre_u64 index = gyre_link_index_(links, run, number);
        const gyre_link_ask *ask =
            (const gyre_link_ask *)(run.slots + (index & run.mask) * run.stride + GYRE_SLOT_HEADER_SIZE);
#pragma unroll 1
        while (gyre_near_half_load_(&ask->depth) & GYRE_ASK_BY_LINES_ &&
               gyre_near_half_load_(&ask->returns[GYRE_ASKS_DEEP - 1].token) != (gyre_u32)(index + 1)) {
        }
    }
    __syncthreads();
}

/* Whether the handler of the run's message was called already, on the short way. */
#define GYRE_LINK_TALKED_(links) (*(volatile gyre_u32 *)&(links)->talked)

/* What message `number` of the run asks or answers. */
GYRE_HELPER const gyre_link_ask *gyre_ask_of_(const gyre_link_view_ *links, gyre_u32 number)
{
    return (const gyre_link_ask *)&links->asks[number * GYRE_ASK_CHUNKS];
}

#define GYRE_LINK_TAKE_TOKEN_(links, number, gyre) ((gyre)->token = gyre_ask_of_((links), (number))->token)

/* ---- the end of a flow ---- */

#define GYRE_NO_ANSWER_TEXT_                       "a kernel was asked, and did not reply"
#define GYRE_TWO_ANSWERS_TEXT_                     "two handlers replied to one ask"

/* Asks less answers of the flow, behind a fence where it is counted. */
#define GYRE_FLOW_ASKING_(flow)                    ((gyre_i32)gyre_near_half_load_((const gyre_u32 *)&(flow)->asking))

/*
 * Fails a flow that ends without a failure when one of its asks was answered twice, or when nobody replied and an ask was not answered.
 * Returns 1 then: `out` says so.
 */
#define GYRE_FLOW_ENDS_ASKING_(flow, answers, out) gyre_flow_ends_asking_((flow), (answers), (out))
GYRE_HELPER gyre_u32 gyre_flow_ends_asking_(const gyre_flow *flow, gyre_u32 answers, gyre_slot *out)
{
    const gyre_i32 asking = GYRE_FLOW_ASKING_(flow);
    if (asking < 0)
        gyre_write_failure_(out, GYRE_FAILURE_REPLIES, GYRE_TWO_ANSWERS_TEXT_);
    else if (asking > 0 && !answers)
        gyre_write_failure_(out, GYRE_FAILURE_ASK, GYRE_NO_ANSWER_TEXT_);
    return asking < 0 || (asking > 0 && !answers);
}
#endif

#endif
