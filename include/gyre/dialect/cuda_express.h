/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes express lines (a second copy of a lone request beside its slot; gyre_express_line in ring_layout.h)
 * on CUDA devices. A look for a lone request reads the express lines. If all lines are there, the request is there
 * after one journey across the bus, and its reply goes back the same way, without a fence. A part (see
 * cuda_resident.h). Included by cuda_lone.h.
 *
 * Four neighbouring lanes move a line together, by one instruction. So the line crosses the bus as one read or write,
 * and its sequence comes with words that are as new (docs/backends/cuda.md). A lane's quarter has two words of eight
 * bytes. The first word of a line's first quarter is the sequence. The words of all lines, without the sequences, are
 * the words of a slot behind its sequence.
 */
#ifndef GYRE_DIALECT_CUDA_EXPRESS_H
#define GYRE_DIALECT_CUDA_EXPRESS_H

/* Quarters of each lane, all under way together: with 32 lanes they hold the largest request. */
#define GYRE_EXPRESS_LOADS_ 5
#define GYRE_EXPRESS_BYTES_ 56 /* bytes of a message in one line */

/* ---- requests ---- */

/** The quarters of a request's lines that one lane reads. */
struct gyre_express_ {
    const gyre_chunk *at; /* where the lane's first quarter lies */
    gyre_u32 quarters;    /* quarters of the kernel's largest request, for all lanes */
    gyre_chunk mine[GYRE_EXPRESS_LOADS_];
};

GYRE_HELPER void gyre_express_begin_(const gyre_block_view *view, gyre_express_ *express)
{
    express->at = (const gyre_chunk *)view->served[0].express + (threadIdx.x & 31);
    express->quarters = 4 * GYRE_EXPRESS_LINES((view->stage.request_chunks - 1) * 16);
}

/*
 * Loads a chunk as gyre_chunk_load_ does, if `there`; otherwise the chunk stays. With a branch that the compiler sees,
 * it would copy the loaded chunk, and so wait for it before it goes on.
 */
GYRE_HELPER void gyre_chunk_load_if_(gyre_u32 there, const gyre_chunk *from, gyre_chunk *chunk)
{
    asm volatile(
        "{ .reg .pred there; setp.ne.u32 there,%3,0; @there ld.relaxed.sys.global.v2.u64 {%0,%1},[%2]; }"
        : "+l"(chunk->x), "+l"(chunk->y)
        : "l"(from), "r"(there)
        : "memory");
}

/* Starts the loads of the lines. Called by a warp. */
GYRE_HELPER void gyre_express_load_(gyre_express_ *express)
{
#pragma unroll
    for (gyre_u32 i = 0; i < GYRE_EXPRESS_LOADS_; i++) {
        express->mine[i] = gyre_chunk{0, 0};
        gyre_chunk_load_if_(i * 32 + (threadIdx.x & 31) < express->quarters, express->at + i * 32,
                            &express->mine[i]);
    }
}

/*
 * Whether the lines hold the whole request `next`: returns GYRE_LONE_HERE_ or GYRE_LONE_AWAITED_, otherwise 0. If the
 * first line is late, so is the length, but then the first line shows that. Called by a warp.
 */
GYRE_HELPER gyre_u32 gyre_express_whole_(gyre_u64 next, const gyre_express_ *express)
{
    const gyre_chunk *mine = express->mine;
    const gyre_u32 lane = threadIdx.x & 31, begin = lane / 4 * GYRE_EXPRESS_BYTES_;
    /* the last byte, so that no length leaves the first line out */
    const gyre_u32 last = __shfl_sync(0xffffffffu, (gyre_u32)mine[0].y, 0) + 7;
    const gyre_u32 info = __shfl_sync(0xffffffffu, (gyre_u32)(mine[0].y >> 32), 0);
    gyre_u32 late = 0;
#pragma unroll
    for (gyre_u32 i = 0; i < GYRE_EXPRESS_LOADS_; i++)
        late |= lane % 4 == 0 && begin + i * 8 * GYRE_EXPRESS_BYTES_ <= last && mine[i].x != next + 1;
    if (__any_sync(0xffffffffu, late))
        return 0;
    return info & GYRE_EXPRESS_AWAITED ? GYRE_LONE_AWAITED_ : GYRE_LONE_HERE_;
}

GYRE_HELPER void gyre_shared_word_store_(gyre_u32 address, gyre_u64 word)
{
    asm volatile("st.shared.u64 [%0],%1;" ::"r"(address), "l"(word) : "memory");
}

GYRE_HELPER gyre_u64 gyre_shared_word_load_(gyre_u32 address)
{
    gyre_u64 word;
    asm volatile("ld.shared.u64 %0,[%1];" : "=l"(word) : "r"(address) : "memory");
    return word;
}

/* Stores the request into its cell, as it lies in its slot. Called by a warp. */
GYRE_HELPER void gyre_express_place_(const gyre_block_view *view, gyre_chunk *cells,
                                     const gyre_express_ *express)
{
    const gyre_chunk *mine = express->mine;
    const gyre_u32 lane = threadIdx.x & 31, part = lane % 4;
    const gyre_u32 cell = gyre_shared_address_(cells), end = cell + 16 * view->stage.request_chunks;
    const gyre_u32 first =
        cell + 8 + lane / 4 * GYRE_EXPRESS_BYTES_ + 16 * part; /* a quarter's second word */
#pragma unroll
    for (gyre_u32 i = 0; i < GYRE_EXPRESS_LOADS_; i++) {
        const gyre_u32 at = first + i * 8 * GYRE_EXPRESS_BYTES_;
        if (part > 0 && at - 8 < end)
            gyre_shared_word_store_(at - 8, mine[i].x);
        if (at < end)
            gyre_shared_word_store_(at, i + lane == 0 ? (gyre_u32)mine[i].y
                                                      : mine[i].y); /* info has another meaning in a slot */
    }
}

/* ---- replies ---- */

/* Whether the run's one reply goes by express: its sender asked for it so, and the handler replied. */
GYRE_HELPER gyre_u32 gyre_express_may_reply_(const gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_slot *reply = (const gyre_slot *)(worker->cells + view->stage.request_chunks);
    return worker->lone == GYRE_LONE_AWAITED_ && view->served[0].express_replies &&
           reply->info == GYRE_OUTCOME_REPLY;
}

/*
 * Stores the reply's lines. Called by all threads of the worker; four threads of a warp store a line together. Has no
 * branches between lanes of one line: otherwise the lanes would part and store the line in pieces.
 */
GYRE_HELPER void gyre_express_reply_(const gyre_block_view *view, const gyre_worker *worker, gyre_u32 threads)
{
    const gyre_chunk *reply = worker->cells + view->stage.request_chunks;
    const gyre_u32 quarters = 4 * GYRE_EXPRESS_LINES(((const gyre_slot *)reply)->length);
    const gyre_u32 cell = gyre_shared_address_(reply), last = cell + 16 * view->stage.reply_chunks - 8;
    gyre_chunk *lines = (gyre_chunk *)view->served[0].express_replies;
    const gyre_u64 sequence = worker->first + 1;
    gyre_settle_(1);
#pragma unroll 1
    for (gyre_u32 quarter = gyre_thread_of_(threads); quarter < quarters; quarter += threads) {
        const gyre_u32 part = quarter % 4, at = cell + 8 + quarter / 4 * GYRE_EXPRESS_BYTES_ + 16 * part;
        const gyre_u64 before = gyre_shared_word_load_(at - 8 < last ? at - 8 : last);
        const gyre_u64 here = gyre_shared_word_load_(at < last ? at : last);
        gyre_chunk chunk = {part ? before : sequence, here};
        gyre_chunk_store_(lines + quarter, chunk);
    }
}

#endif
