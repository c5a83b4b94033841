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

#include "gyre/dialect/cuda_fetch.h"
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
