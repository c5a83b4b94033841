/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's turn: it finds a run of messages, fetches it and, after the handler, delivers it. A part (see
 * cuda_resident.h). Included by cuda_resident.h.
 *
 * All threads of a worker call these functions, and each function saves its caller's registers that it needs, in
 * memory, for all threads. So work that only the first warp does, or that only a longer run needs, is in functions of
 * its own.
 */
#ifndef GYRE_DIALECT_CUDA_TURN_H
#define GYRE_DIALECT_CUDA_TURN_H

#include "gyre/dialect/cuda_lone.h"

/* Finds requests the long way (cuda_seek.h). Called by the worker's first warp. */
GYRE_APART_ void gyre_find_long_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                 gyre_worker *worker, gyre_chunk *cells)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    if ((threadIdx.x & 31) == 0) {
        worker->cells = cells;
        worker->lone = 0;
    }
    gyre_seek_(arguments, view, worker);
    if ((threadIdx.x & 31) == 0 && worker->count)
        gyre_turn_begins_(gyre_turn_(arguments, (gyre_u32)(worker - view->workers)));
    if (view->served[worker->which].kind & GYRE_BRIDGED_REQUESTS_)
        return; /* the slots say what to fetch, and they have not arrived yet */
    gyre_fetch_start_(view, worker);
    if (worker->count)
        gyre_look_ahead_(view, worker);
}

/*
 * Whether the short way (cuda_lone.h) may lead to a request. This is asked here, because a call of the short
 * way has to save many registers. Called by the worker's first warp.
 */
GYRE_HELPER gyre_u32 gyre_lone_is_next_(const gyre_block_view *view, const gyre_worker *worker)
{
    gyre_u32 next = 0;
    if (!gyre_lone_may_(view))
        return 0;
    if ((threadIdx.x & 31) == 0)
        next = view->team_size > 1 ? *(const volatile gyre_u32 *)&worker->kept_phase
                                   : !*(const volatile gyre_u32 *)&worker->wide;
    return __shfl_sync(gyre_first_warp_(), next, 0);
}

/* Finds the worker's next run. Called by the worker's first warp. */
GYRE_APART_ void gyre_find_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_worker *worker,
                            gyre_chunk *cells)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 mask = gyre_first_warp_();
    gyre_u32 quiet = 0;
    while (!gyre_lone_is_next_(view, worker) || !gyre_find_lone_(arguments, view, worker, cells)) {
        gyre_find_long_(arguments, view, worker, cells);
        if ((threadIdx.x & 31) == 0)
            quiet = *(volatile gyre_u32 *)&worker->kept_phase;
        if (!__shfl_sync(mask, quiet, 0))
            break;
        __syncwarp(mask); /* all lanes have read the worker's words */
    }
}

/*
 * Zeroes the cells in which replies to other programs are built: a cell holds bytes of its last message, maybe another
 * client's, and the whole cell goes out. Called by all threads of the worker.
 */
GYRE_HELPER void gyre_zero_replies_(const gyre_block_view *view, const gyre_worker *worker, gyre_chunk *cells,
                                    gyre_u32 threads)
{
    const gyre_u32 each = view->stage.reply_chunks, cell = view->stage.cell, all = worker->count * each;
    gyre_chunk *const replies = cells + view->stage.request_chunks;
    const gyre_chunk zero = {0, 0};
#pragma unroll 1
    for (gyre_u32 chunk = gyre_thread_of_(threads); chunk < all; chunk += threads)
        replies[chunk / each * cell + chunk % each] = zero;
    gyre_worker_meets_(threads);
}

GYRE_PART_ int gyre_next_run_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_chunk *cells,
                              gyre_u32 threads)
{
    GYRE_IN_SHARED_(view);
    gyre_worker *worker = &view->workers[gyre_worker_of_(threads)];
    gyre_worker_meets_(threads); /* all threads have left the last run */
    if (gyre_thread_of_(threads) < 32)
        gyre_find_(arguments, view, worker, cells);
    gyre_worker_meets_(threads);
    if (worker->count == 0)
        return 0;
    if (worker->lone >= GYRE_LONE_HERE_)
        ; /* the request is in its cell, and the threads have met since it was stored */
    else if (GYRE_MOVE_BULK_ && worker->lone && view->stage.in_shared)
        gyre_await_copy_(worker);
    else if (view->served[worker->which].kind & GYRE_BRIDGED_REQUESTS_)
        gyre_bridge_fetch_(view, worker, cells, threads);
    else
        gyre_fetch_(view, worker, cells, threads);
    if (view->stage.most && threadIdx.x == 0)
        view->stage.started = (gyre_u64)clock64();
    if (view->served[worker->which].kind & GYRE_KIND_ZEROED_)
        gyre_zero_replies_(view, worker, cells, threads);
    return 1;
}

GYRE_PART_ void gyre_refuse_(gyre_slot *out, gyre_u32 dropped)
{
    if (dropped) {
        out->length = 0;
        out->info = GYRE_OUTCOME_DROPPED;
    } else {
        gyre_write_failure_(out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
    }
}

/* Stores a lone reply, except its header. */
GYRE_HELPER void gyre_deliver_lone_(const gyre_block_view *view, const gyre_worker *worker, gyre_u32 threads)
{
    gyre_chunk *slot = (gyre_chunk *)gyre_reply_at_(&view->served[worker->which], worker->first);
    const gyre_chunk *reply = worker->cells + view->stage.request_chunks;
    const gyre_u32 chunks = view->stage.reply_chunks;
#pragma unroll 1
    for (gyre_u32 chunk = 1 + gyre_thread_of_(threads); chunk < chunks; chunk += threads)
        gyre_chunk_store_(slot + chunk, reply[chunk]);
}

GYRE_PART_ void gyre_end_run_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u32 threads,
                              gyre_u32 failed)
{
    GYRE_IN_SHARED_(view);
    gyre_worker *worker = &view->workers[gyre_worker_of_(threads)];
    if (failed)
        atomicAdd(&view->failed, (gyre_u64)failed);
    gyre_worker_meets_(threads); /* all threads have handled their messages */
    if (view->stage.most && threadIdx.x == 0)
        gyre_adapt_window_(view, worker->count);
    if (gyre_express_may_reply_(view, worker)) {
        gyre_express_reply_(view, worker, threads);
        /* a reply that fits one line needs no fence */
    } else if (worker->lone && view->stage.reply_chunks != 4) {
        gyre_deliver_lone_(view, worker, threads);
        gyre_worker_meets_(threads); /* the payload is out */
        if (gyre_thread_of_(threads) < 32)
            gyre_post_lone_(view, worker, gyre_worker_of_(threads));
    } else {
        gyre_deliver_(view, worker, threads);
    }
    if (gyre_thread_of_(threads) > 0)
        return;
    gyre_turn_ends_(gyre_turn_(arguments, gyre_worker_of_(threads)));
    atomicAdd(&view->handled, (gyre_u64)worker->count);
    gyre_tell_counts_(arguments, view);
}

#endif
