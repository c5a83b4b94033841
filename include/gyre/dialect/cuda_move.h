/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves messages to a worker (a group of warps, or a block) and back, unless they go the way of cuda_lines.h. A part
 * (see cuda_resident.h), so sizes are values here: each function runs once a run of messages. Included by
 * cuda_resident.h.
 *
 * A run of requests is copied into the stage, which is shared memory (device memory, if one message is too large for
 * it). Replies are copied back: the payloads, one fence for the run, then the headers. A completion that fits a line
 * goes as a whole line and needs no fence.
 *
 * Workers meet at hardware barriers: a warp whose lanes have parted may enter a part, and bar.sync brings the lanes
 * together, which __syncwarp does not promise.
 */
#ifndef GYRE_DIALECT_CUDA_MOVE_H
#define GYRE_DIALECT_CUDA_MOVE_H

#ifndef GYRE_STAGE_LOADS_
#define GYRE_STAGE_LOADS_ 8 /* 16-byte loads in flight of each thread */
#endif

/*
 * The number of this thread's worker, and the thread's number in the worker, when workers have `threads` threads. A
 * worker is the block, or a power of two of threads.
 */
GYRE_HELPER gyre_u32 gyre_worker_of_(gyre_u32 threads)
{
    return threads == blockDim.x ? 0 : threadIdx.x >> (__ffs((int)threads) - 1);
}

GYRE_HELPER gyre_u32 gyre_thread_of_(gyre_u32 threads)
{
    return threads == blockDim.x ? threadIdx.x : threadIdx.x & (threads - 1);
}

/* Makes the `threads` threads of a worker meet; afterwards the lanes of each warp are together. */
GYRE_HELPER void gyre_worker_meets_(gyre_u32 threads)
{
    if (threads == blockDim.x)
        __syncthreads();
    else /* barrier 0 belongs to the block */
        asm volatile("bar.sync %0,%1;" ::"r"(1 + gyre_worker_of_(threads)), "r"(threads) : "memory");
}

/*
 * Returns the message that chunk `chunk` of a run belongs to, which is chunk / each. Computes it by the high half of a
 * product, which is right for runs, because they have fewer than 2^16 chunks and messages.
 */
GYRE_HELPER gyre_u32 gyre_message_of_(gyre_u32 chunk, gyre_u32 reciprocal)
{
    return reciprocal ? __umulhi(chunk, reciprocal) : chunk;
}

GYRE_HELPER gyre_u32 gyre_reciprocal_(gyre_u32 each)
{
    return each > 1 ? 0xffffffffu / each + 1 : 0;
}

/* ---- shared memory ---- */

/*
 * Accesses shared memory by its own addresses. The compiler does not know where a pointer leads that was itself loaded
 * from memory: it makes generic accesses, each with a branch around it, and the extra instructions cost time.
 */
GYRE_HELPER gyre_u32 gyre_shared_address_(const void *pointer)
{
    gyre_u64 address;
    asm("cvta.to.shared.u64 %0,%1;" : "=l"(address) : "l"(pointer));
    return (gyre_u32)address;
}

GYRE_HELPER gyre_chunk gyre_shared_load_if_(gyre_u32 there, gyre_u32 address)
{
    gyre_chunk chunk;
    asm volatile("{ .reg .pred there; setp.ne.u32 there,%3,0; @there ld.shared.v2.u64 {%0,%1},[%2]; }"
                 : "=l"(chunk.x), "=l"(chunk.y)
                 : "r"(address), "r"(there)
                 : "memory");
    return chunk;
}

GYRE_HELPER void gyre_shared_store_if_(gyre_u32 there, gyre_u32 address, gyre_chunk chunk)
{
    asm volatile(
        "{ .reg .pred there; setp.ne.u32 there,%3,0; @there st.shared.v2.u64 [%0],{%1,%2}; }" ::"r"(address),
        "l"(chunk.x), "l"(chunk.y), "r"(there)
        : "memory");
}

/* ---- bulk copies ---- */

/*
 * Bulk copies: a device that has them copies a message by one instruction of one thread, in larger reads than threads
 * make and with more of them under way. To the memory order, the copies are another "proxy" than the threads' own
 * accesses: a fence orders them after the earlier use of the shared memory that they go to. No thread of the device
 * ever writes the memory that they read. They are started once the look that found the messages has returned. (A fence
 * for all memory waits for everything that is under way, a microsecond.)
 */
#ifndef GYRE_MOVE_BULK
#define GYRE_MOVE_BULK 1
#endif
#ifndef GYRE_MOVE_APART
#define GYRE_MOVE_APART 4 /* up to this many requests are copied one by one, straight into their cells */
#endif
/*
 * Requests of more bytes than this come by loads, if there are more than a few blocks. A bulk copy arrives sooner, but
 * many bulk copies at a time are slow. Four rings of 64 KiB through a bare kernel made 18 - 21 GB/s each way with bulk
 * copies and 30 - 36 with loads; through one block of this loop 5.6 with a bulk copy and 4.4 with loads.
 */
#ifndef GYRE_MOVE_BULK_MOST
#define GYRE_MOVE_BULK_MOST 8192
#endif
#define GYRE_MOVE_FEW_BLOCKS 8
#if __CUDA_ARCH__ >= 900 && GYRE_MOVE_BULK
#define GYRE_MOVE_BULK_ 1

GYRE_HELPER gyre_u32 gyre_comes_by_bulk_(const gyre_block_view *view)
{
    return view->stage.in_shared &&
           (view->stage.request_chunks * 16 <= GYRE_MOVE_BULK_MOST || gridDim.x <= GYRE_MOVE_FEW_BLOCKS);
}

/* Makes the barriers of the workers. Called by one thread, before any worker fetches. */
GYRE_HELPER void gyre_barriers_make_(gyre_block_view *view)
{
#pragma unroll 1
    for (gyre_u32 i = 0; i < GYRE_CUDA_WORKERS_MAX; i++) {
        view->workers[i].parity = 1;
        asm volatile(
            "mbarrier.init.shared::cta.b64 [%0],1;" ::"r"(gyre_shared_address_(&view->workers[i].barrier))
            : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Starts a bulk copy. Called by one thread. */
GYRE_HELPER void gyre_bulk_copy_(const gyre_worker *worker, gyre_chunk *to, const gyre_slot *from,
                                 gyre_u32 size)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(
                     gyre_shared_address_(to)),
                 "l"(from), "r"(size), "r"(gyre_shared_address_(&worker->barrier))
                 : "memory");
}

/* The chunks of a request slot, in a queue whose messages are not larger than the kernel's. */
GYRE_HELPER gyre_u32 gyre_slot_chunks_(const gyre_block_view *view)
{
    return view->stage.request_chunks > 4 ? view->stage.request_chunks : 4;
}

/* Whether the worker's run comes in one piece, which is taken apart afterwards (dense). */
GYRE_HELPER gyre_u32 gyre_is_dense_(const gyre_block_view *view, const gyre_worker *worker)
{
    return view->stage.dense && worker->count > GYRE_MOVE_APART &&
           view->served[worker->which].request_stride == gyre_slot_chunks_(view) * 16;
}

/*
 * Returns where a dense run is fetched to: the end of the worker's cells. A cell is larger than a slot. So slots that
 * are spread from the first message on never overwrite a slot that was not spread yet.
 */
GYRE_HELPER gyre_chunk *gyre_dense_place_(const gyre_block_view *view, const gyre_worker *worker)
{
    return worker->cells + view->stage.window * view->stage.cell - worker->count * gyre_slot_chunks_(view);
}

/* Fetches a dense run, in two pieces if it passes the end of the ring. Called by one thread. */
GYRE_HELPER void gyre_fetch_dense_(const gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_served *queue = &view->served[worker->which];
    const gyre_u64 first = worker->first, left = queue->mask + 1 - (first & queue->mask);
    const gyre_u32 count = worker->count, head = left < count ? (gyre_u32)left : count;
    const gyre_u32 each = gyre_slot_chunks_(view);
    gyre_chunk *place = gyre_dense_place_(view, worker);
    gyre_bulk_copy_(worker, place, gyre_request_at_(queue, first), head * each * 16);
    if (head < count)
        gyre_bulk_copy_(worker, place + head * each, gyre_request_at_(queue, first + head),
                        (count - head) * each * 16);
}

/* Starts to copy the run that was found. Called by the worker's first warp, whose lanes are together. */
GYRE_HELPER void gyre_fetch_start_(const gyre_block_view *view, gyre_worker *worker)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = blockDim.x < 32 ? blockDim.x : 32;
    const gyre_u32 count = worker->count, dense = gyre_is_dense_(view, worker);
    const gyre_u32 size = (dense ? gyre_slot_chunks_(view) : view->stage.request_chunks) * 16;
    if (count == 0 || !gyre_comes_by_bulk_(view))
        return;
    /* the words beside `count` are read with it, and lane 0 writes one of them */
    __syncwarp(gyre_first_warp_());
    if (lane == 0) {
        worker->parity ^= 1;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(
                         gyre_shared_address_(&worker->barrier)),
                     "r"(count * size)
                     : "memory");
    }
    __syncwarp(gyre_first_warp_());
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (dense && lane == 0)
        gyre_fetch_dense_(view, worker);
#pragma unroll 1
    for (gyre_u32 slot = lane; slot < count && !dense; slot += lanes)
        gyre_bulk_copy_(worker, worker->cells + slot * view->stage.cell,
                        gyre_request_at_(&view->served[worker->which], worker->first + slot), size);
}

/*
 * Spreads a dense run into cells, a few chunks of each thread at a time: all threads have read their chunks before a
 * chunk is stored.
 */
#define GYRE_SPREAD_CHUNKS_ 4
GYRE_APART_ void gyre_spread_(const gyre_block_view *view, const gyre_worker *worker, gyre_u32 threads)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 place = gyre_shared_address_(gyre_dense_place_(view, worker));
    const gyre_u32 cells = gyre_shared_address_(worker->cells);
    const gyre_u32 each = view->stage.request_chunks, apart = view->stage.cell - each;
    const gyre_u32 left = gyre_slot_chunks_(view) - each; /* unused chunks of each slot */
    const gyre_u32 reciprocal = view->stage.request_reciprocal, all = worker->count * each;
    gyre_u32 chunk = gyre_thread_of_(threads);
#pragma unroll 1
    for (gyre_u32 first = 0; first < all; first += threads * GYRE_SPREAD_CHUNKS_) {
        gyre_chunk mine[GYRE_SPREAD_CHUNKS_];
        gyre_u32 to[GYRE_SPREAD_CHUNKS_], there[GYRE_SPREAD_CHUNKS_];
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_SPREAD_CHUNKS_; j++, chunk += threads) {
            const gyre_u32 slot = gyre_message_of_(chunk, reciprocal);
            there[j] = chunk < all;
            to[j] = cells + 16 * (slot * apart + chunk);
            mine[j] = gyre_shared_load_if_(there[j], place + 16 * (slot * left + chunk));
        }
        gyre_worker_meets_(threads);
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_SPREAD_CHUNKS_; j++)
            gyre_shared_store_if_(there[j], to[j], mine[j]);
    }
}

/* Waits until the started bulk copies have arrived. Called by all threads of the worker. */
GYRE_HELPER void gyre_await_copy_(const gyre_worker *worker)
{
    const gyre_u32 barrier = gyre_shared_address_(&worker->barrier), parity = worker->parity;
    gyre_u32 arrived = 0;
    while (!arrived)
        asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done,[%1],%2;"
                     " selp.u32 %0,1,0,done; }"
                     : "=r"(arrived)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

/* Waits until the started copies are in the cells. Called by all threads of the worker. */
GYRE_HELPER void gyre_fetch_end_(const gyre_block_view *view, const gyre_worker *worker, gyre_u32 threads)
{
    gyre_await_copy_(worker);
    if (!gyre_is_dense_(view, worker))
        return;
    gyre_spread_(view, worker, threads);
    gyre_worker_meets_(threads);
}
#else
#define GYRE_MOVE_BULK_ 0

GYRE_HELPER void gyre_barriers_make_(gyre_block_view *)
{
}

GYRE_HELPER void gyre_fetch_start_(const gyre_block_view *, gyre_worker *)
{
}

GYRE_HELPER void gyre_await_copy_(const gyre_worker *)
{
}
#endif

#include "gyre/dialect/cuda_bridge.h"

/* ---- copies by threads ---- */

/* Fetches requests into the stage by loads, a few of them in flight in each thread. */
GYRE_APART_ void gyre_fetch_loads_(const gyre_block_view *view, const gyre_worker *worker, gyre_chunk *cells,
                                   gyre_u32 threads)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_served *queue = &view->served[worker->which];
    const gyre_u32 each = view->stage.request_chunks, cell = view->stage.cell, all = worker->count * each;
    const gyre_u32 reciprocal = view->stage.request_reciprocal;
    const gyre_u64 first = worker->first;
#pragma unroll 1
    for (gyre_u32 start = gyre_thread_of_(threads); start < all; start += threads * GYRE_STAGE_LOADS_) {
        gyre_chunk mine[GYRE_STAGE_LOADS_];
#pragma unroll
        for (int j = 0; j < GYRE_STAGE_LOADS_; j++) {
            const gyre_u32 chunk = start + j * threads, slot = gyre_message_of_(chunk, reciprocal);
            if (chunk < all)
                mine[j] = gyre_chunk_load_((const gyre_chunk *)gyre_request_at_(queue, first + slot) +
                                           (chunk - slot * each));
        }
#pragma unroll
        for (int j = 0; j < GYRE_STAGE_LOADS_; j++) {
            const gyre_u32 chunk = start + j * threads, slot = gyre_message_of_(chunk, reciprocal);
            if (chunk < all)
                cells[slot * (cell - each) + chunk] = mine[j];
        }
    }
}

/* Fetches the run into the stage, for all threads of the worker. */
GYRE_HELPER void gyre_fetch_(const gyre_block_view *view, const gyre_worker *worker, gyre_chunk *cells,
                             gyre_u32 threads)
{
#if GYRE_MOVE_BULK_
    if (gyre_comes_by_bulk_(view)) {
        gyre_fetch_end_(view, worker, threads);
        return;
    }
#endif
    gyre_fetch_loads_(view, worker, cells, threads);
    gyre_worker_meets_(threads);
}

/*
 * Stores the replies, except their headers. Reads the queue's words once: after each store the compiler would have to
 * read them anew.
 */
GYRE_HELPER void gyre_deliver_payloads_(const gyre_block_view *view, const gyre_worker *worker,
                                        gyre_u32 threads)
{
    const gyre_served *queue = &view->served[worker->which];
    const gyre_chunk *replies = worker->cells + view->stage.request_chunks;
    const gyre_u32 each = view->stage.reply_chunks, cell = view->stage.cell, all = worker->count * each;
    const gyre_u32 reciprocal = view->stage.reply_reciprocal, stride = queue->reply_stride;
    const gyre_u64 first = worker->first, mask = queue->mask;
    gyre_u8 *const slots = queue->replies;
#pragma unroll 4
    for (gyre_u32 chunk = gyre_thread_of_(threads); chunk < all; chunk += threads) {
        const gyre_u32 slot = gyre_message_of_(chunk, reciprocal), part = chunk - slot * each;
        if (part)
            gyre_chunk_store_((gyre_chunk *)(slots + ((first + slot) & mask) * stride) + part,
                              replies[slot * cell + part]);
    }
}

/* Stores the headers of a worker's replies, whose first word is the sequence. Called by a warp. */
GYRE_HELPER void gyre_deliver_headers_(const gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_served *queue = &view->served[worker->which];
    const gyre_chunk *replies = worker->cells + view->stage.request_chunks;
    const gyre_u32 lanes = blockDim.x < 32 ? blockDim.x : 32, cell = view->stage.cell, count = worker->count;
    const gyre_u64 first = worker->first;
    if (queue->kind & GYRE_BRIDGED_REPLIES_) {
        gyre_bridge_lines_(view, worker);
        return;
    }
#pragma unroll 1
    for (gyre_u32 slot = threadIdx.x & 31; slot < count; slot += lanes)
        gyre_chunk_store_(gyre_reply_at_(queue, first + slot), replies[slot * cell]);
}

/*
 * Decides the next step of a worker whose payloads are out: DONE, WAIT, or a bit for each worker whose headers it has
 * to deliver. Called by lane 0.
 */
#define GYRE_POST_DONE_ 0u
#define GYRE_POST_WAIT_ 0x80000000u
GYRE_HELPER gyre_u32 gyre_post_step_(gyre_block_view *view, gyre_u32 mine, gyre_u32 *posted)
{
    if (*posted && atomicAnd(&view->finished, ~mine) & mine)
        return GYRE_POST_DONE_;
    if (atomicCAS(&view->posting, 0u, 1u) == 0) {
        const gyre_u32 batch = (*posted ? 0 : mine) | atomicExch(&view->posted, 0u);
        gyre_fence_block_(); /* pairs with the fence before `posted`: this worker sees those workers' stores */
        if (batch)
            return batch;
        atomicExch(&view->posting, 0u); /* another worker has just taken these headers into its batch */
    } else if (!*posted) {
        gyre_fence_block_(); /* a worker that takes these headers into its batch sees this worker's stores */
        atomicOr(&view->posted, mine);
        *posted = 1;
    }
    return GYRE_POST_WAIT_;
}

/* Stores the headers of all workers of a batch, after one fence. Called by a warp. */
GYRE_HELPER void gyre_deliver_batch_(const gyre_block_view *view, gyre_u32 batch)
{
    gyre_u32 most = 0;
    for (gyre_u32 rest = batch; rest; rest &= rest - 1) {
        const gyre_u32 count = view->workers[__ffs((int)rest) - 1].count;
        most = count > most ? count : most;
    }
    if ((threadIdx.x & 31) < most)
        gyre_release_system_(); /* the payloads of all these workers go out before the sequences */
#pragma unroll 1
    for (gyre_u32 rest = batch; rest; rest &= rest - 1)
        gyre_deliver_headers_(view, &view->workers[__ffs((int)rest) - 1]);
}

/*
 * Delivers the headers of this worker's replies, after a fence. A multiprocessor makes one such fence at a time, which
 * takes a microsecond or two. So the worker that makes a fence delivers the headers of all workers whose payloads are
 * out by then. Called by the worker's first warp, after all its threads have met. With GYRE_POST_ALONE each worker
 * makes its own fence: for a race checker, which knows barriers but not words that are handed over by atomics
 * (tests/models/post.pml).
 */
#ifndef GYRE_POST_ALONE
#define GYRE_POST_ALONE 0
#endif
GYRE_APART_ void gyre_post_(gyre_block_view *view, gyre_u32 worker)
{
    GYRE_IN_SHARED_(view);
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31, mine = 1u << worker;
    gyre_u32 step = GYRE_POST_WAIT_, posted = 0;
    if (GYRE_POST_ALONE) {
        gyre_deliver_batch_(view, mine);
        return;
    }
    do {
        if (lane == 0)
            step = gyre_post_step_(view, mine, &posted);
        step = __shfl_sync(mask, step, 0);
        if (step == GYRE_POST_WAIT_ || step == GYRE_POST_DONE_)
            continue;
        __syncwarp(mask);
        gyre_deliver_batch_(view, step);
        __syncwarp(mask);
        if (lane == 0) {
            gyre_fence_block_(); /* the cells of the other workers were read before these workers go on */
            atomicOr(&view->finished, posted ? step : step & ~mine);
            atomicExch(&view->posting, 0u);
            if (!posted)
                step = GYRE_POST_DONE_;
        }
        step = __shfl_sync(mask, step, 0);
    } while (step != GYRE_POST_DONE_);
}

/*
 * Copies the completions out of the stage. Called by all threads, which have met before, so that each warp is
 * together.
 */
GYRE_HELPER void gyre_deliver_(gyre_block_view *view, gyre_worker *worker, gyre_u32 threads)
{
    const gyre_chunk *replies = worker->cells + view->stage.request_chunks;
    if (view->served[worker->which].kind & GYRE_BRIDGED_REPLIES_) {
        gyre_bridge_payloads_(view, worker, threads);
        gyre_worker_meets_(threads);
        if (gyre_thread_of_(threads) >= 32)
            return;
        if (worker->long_replies)
            gyre_post_(view, gyre_worker_of_(threads));
        else
            gyre_bridge_lines_(view, worker);
        return;
    }
    if (view->stage.reply_chunks != 4 || threads < 4) {
        gyre_deliver_payloads_(view, worker, threads);
        gyre_worker_meets_(threads);
        if (gyre_thread_of_(threads) < 32)
            gyre_post_(view, gyre_worker_of_(threads));
        return;
    }
    gyre_settle_(gyre_thread_of_(threads) < 4 * worker->count);
    for (gyre_u32 chunk = gyre_thread_of_(threads); chunk < 4 * worker->count; chunk += threads)
        gyre_chunk_store_(/* four neighbours store a line together */
                          (gyre_chunk *)gyre_reply_at_(&view->served[worker->which],
                                                       worker->first + chunk / 4) +
                              chunk % 4,
                          replies[chunk / 4 * view->stage.cell + chunk % 4]);
}

/* ---- how much at once ---- */

#define GYRE_BLOCK_CLOCKS_ 40000u /* clocks that a block's run should take at most */

/*
 * Adapts the window (messages taken at once) where messages are handled one after the other, so that neither the first
 * reply nor another order waits for long. Called by one thread, after `count` messages were handled. The window is
 * never smaller than fits the time, because finding and fetching a run costs the same however short it is.
 */
GYRE_HELPER void gyre_adapt_window_(gyre_block_view *view, gyre_u32 count)
{
    const gyre_u64 clocks = (gyre_u64)clock64() - view->stage.started;
    const gyre_u32 full = count == view->stage.window, most = full ? 2 * count : count;
    gyre_u32 window = most;
    if (clocks <= GYRE_BLOCK_CLOCKS_ && !full)
        return;
    if (clocks >= GYRE_BLOCK_CLOCKS_ / 2) { /* otherwise all of `most` fit */
        const gyre_u32 fits =
            clocks < 2 * GYRE_BLOCK_CLOCKS_ ? GYRE_BLOCK_CLOCKS_ * count / (gyre_u32)clocks : count / 2;
        window = fits < most ? fits : most;
    }
    window = window > view->stage.least ? window : view->stage.least;
    view->stage.window = window < view->stage.most ? window : view->stage.most;
}

#endif
