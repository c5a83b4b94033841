/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves one message at a time, as a caller that waits sends them: finds, fetches and answers it with as few
 * instructions as possible, because each new cache line of instructions costs time. A part (see cuda_resident.h).
 * Called by the first warp of a worker. Included by cuda_turn.h.
 *
 * Only for a block with one queue, whose messages lie in slots. Messages that come by express lines (a copy of a lone
 * request beside its slot) need no fetching, and may be answered the same way (cuda_express.h). A worker that sees a
 * backlog, or another order, goes the long way (cuda_seek.h, cuda_move.h), with the same words: claims, pollers,
 * posts. If blocks share the queue, workers go the long way first. Then this way is only for a worker that looks
 * across the bus and found nothing there, or expects nothing (worker->kept_phase).
 */
#ifndef GYRE_DIALECT_CUDA_LONE_H
#define GYRE_DIALECT_CUDA_LONE_H

#define GYRE_LONE_LOOK_    1u
#define GYRE_LONE_REST_    2u
#define GYRE_LONE_EXPRESS_ 3u /* a look that also reads express lines */
#define GYRE_LONE_ELSE_    0u /* the long way */

#include "gyre/dialect/cuda_express.h"

/* Decides the next step. Called by lane 0. */
GYRE_HELPER gyre_u32 gyre_lone_step_(const gyre_block_view *view, gyre_seeker_ *seeker,
                                     gyre_cuda_claims *claims)
{
    if (*(const volatile gyre_u32 *)&view->go || seeker->wide)
        return GYRE_LONE_ELSE_;
    seeker->first = gyre_near_load_(&claims->next);
    if (seeker->first < gyre_near_load_(&claims->ready))
        return GYRE_LONE_ELSE_;
    if (gyre_may_poll_(view, seeker, claims))
        return gyre_express_wanted_(view) ? GYRE_LONE_EXPRESS_ : GYRE_LONE_LOOK_;
    return view->team_size == 1 ? GYRE_LONE_REST_ : GYRE_LONE_ELSE_;
}

/*
 * Looks once at two slots from index `next` on, and now and then at the host's other words, with all reads under way
 * together. Returns a bit for each request that is there. Called by a warp.
 */
GYRE_HELPER gyre_u32 gyre_lone_look_(gyre_block_view *view, gyre_served *queue, gyre_u64 next, gyre_u32 asks)
{
    const gyre_u32 lane = threadIdx.x & 31;
    const gyre_u64 *at = lane == GYRE_SEEK_NARROW ? view->order_word : queue->drop_before;
    gyre_u64 word = 0;
    if (lane < GYRE_SEEK_NARROW)
        at = &gyre_request_at_(queue, next + lane)->sequence;
    if (lane < GYRE_SEEK_NARROW + (asks ? 2 : 0))
        word = gyre_word_load_(at);
    if (asks && lane == GYRE_SEEK_NARROW && (word != view->order || GYRE_IS_WOKEN_(view)))
        atomicExch(&view->go, GYRE_GO_ORDER);
    if (asks && lane == GYRE_SEEK_NARROW + 1)
        atomicExch(&queue->dropping, word);
    return __ballot_sync(gyre_first_warp_(), lane < GYRE_SEEK_NARROW && word == next + lane + 1);
}

#if GYRE_MOVE_BULK_
/* Starts to copy the lone request. Called by lane 0. */
GYRE_HELPER void gyre_fetch_lone_(const gyre_block_view *view, gyre_worker *worker)
{
    const gyre_u32 size = view->stage.request_chunks * 16;
    if (!view->stage.in_shared)
        return;
    worker->parity ^= 1;
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(gyre_shared_address_(&worker->barrier)),
        "r"(size)
        : "memory");
    gyre_bulk_copy_(worker, worker->cells, gyre_request_at_(&view->served[0], worker->first), size);
}

/*
 * Orders bulk copies behind the threads' earlier use of the memory that the copies go to. Called by lane 0, long
 * before it starts a copy.
 */
GYRE_HELPER void gyre_lone_begin_()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#else
GYRE_HELPER void gyre_fetch_lone_(const gyre_block_view *, gyre_worker *)
{
}

GYRE_HELPER void gyre_lone_begin_()
{
}
#endif

/* Whether it is time to look at the host's other words; one worker of the block looks. Called by lane 0. */
GYRE_HELPER gyre_u32 gyre_lone_asks_(gyre_block_view *view)
{
    const gyre_u64 before = *(volatile gyre_u64 *)&view->asked, now = (gyre_u64)clock64();
    return now - before > GYRE_CUDA_LOOK_CLOCKS && atomicCAS(&view->asked, before, now) == before;
}

/*
 * Takes the request for this worker, unless another worker took it meanwhile. `express` says how it came by express
 * lines; 0: it has to be fetched. Called by lane 0.
 */
GYRE_HELPER gyre_u32 gyre_lone_take_(gyre_block_view *view, gyre_worker *worker, gyre_chunk *cells,
                                     gyre_seeker_ *seeker, gyre_u32 express)
{
    gyre_served *queue = &view->served[0];
    if (atomicCAS(&queue->claims->next, seeker->first, seeker->first + 1) != seeker->first)
        return 0;
    worker->cells = cells;
    worker->first = seeker->first;
    worker->count = 1;
    worker->lone = express ? express : GYRE_LONE_FETCHED_;
    if (!express)
        gyre_fetch_lone_(view, worker);
    gyre_stop_polling_(seeker, queue->claims);
    queue->lone_at = (gyre_u64)clock64();
    worker->which = worker->wide = 0;
    worker->drop_before = *(volatile gyre_u64 *)&queue->dropping;
    return 1;
}

/*
 * Acts on a look. Returns 1 when a request was taken. Two requests are a backlog, and the other workers are told.
 * Called by lane 0.
 */
GYRE_HELPER gyre_u32 gyre_lone_note_(gyre_block_view *view, gyre_worker *worker, gyre_chunk *cells,
                                     gyre_seeker_ *seeker, gyre_u32 there, gyre_u32 express)
{
    if (there == 1 || (express && there != 3)) /* the express lines may be seen before the slot */
        return gyre_lone_take_(view, worker, cells, seeker, express);
    if (there == 3) {
        atomicMax(&view->served[0].claims->ready, seeker->first + GYRE_SEEK_NARROW);
        worker->wide = seeker->wide = 1;
    }
    return 0;
}

/*
 * Looks once, and takes the request that it finds; `lines`: the look also reads the express lines. Called by a warp.
 */
GYRE_HELPER gyre_u32 gyre_lone_try_(gyre_block_view *view, gyre_worker *worker, gyre_chunk *cells,
                                    gyre_seeker_ *seeker, gyre_express_ *express, int lines)
{
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31;
    const gyre_u64 next = __shfl_sync(mask, seeker->first, 0);
    const gyre_u32 asks = __shfl_sync(mask, lane == 0 ? gyre_lone_asks_(view) : 0, 0);
    gyre_u32 found = 0, whole = 0;
    if (lines)
        gyre_express_load_(express);
    const gyre_u32 there = gyre_lone_look_(view, &view->served[0], next, asks);
    if (lines)
        whole = gyre_express_whole_(next, express);
    if (lane == 0)
        found = gyre_lone_note_(view, worker, cells, seeker, there, whole);
    found = __shfl_sync(mask, found, 0);
    if (found && whole)
        gyre_express_place_(view, cells, express);
    return found;
}

/*
 * Waits for a request that comes alone, takes it, and starts to fetch it. Returns 0 when there is a backlog or another
 * order. Called by a worker's first warp, for a queue of this kind; if blocks share the queue, the worker holds a
 * place among the pollers.
 */
GYRE_APART_ gyre_u32 gyre_find_lone_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                     gyre_worker *worker, gyre_chunk *cells)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31;
    gyre_cuda_claims *claims = view->served[0].claims;
    gyre_seeker_ seeker = {0};
    gyre_express_ express;
    gyre_u32 found = 0, step = GYRE_LONE_REST_;
    gyre_express_begin_(view, &express);
    if (lane == 0) {
        seeker.phase = *(volatile gyre_u32 *)&worker->kept_phase;
        seeker.wide = *(volatile gyre_u32 *)&worker->wide;
        gyre_lone_begin_();
    }
    for (;;) {
        if (lane == 0)
            step = gyre_lone_step_(view, &seeker, claims);
        step = __shfl_sync(mask, step, 0);
        if (step == GYRE_LONE_ELSE_)
            break;
        if (step != GYRE_LONE_REST_)
            found = gyre_lone_try_(view, worker, cells, &seeker, &express, step == GYRE_LONE_EXPRESS_);
        if (found)
            break;
        if (lane == 0)
            gyre_seek_rest_(arguments, view, &seeker);
    }
    if (lane == 0 && !found)
        gyre_stop_polling_(&seeker, claims);
    if (lane == 0)
        worker->kept_phase = 0;
    if (lane == 0 && found) /* while the request is on its way here */
        gyre_turn_begins_(gyre_turn_(arguments, (gyre_u32)(worker - view->workers)));
    __syncwarp(mask);
    return found;
}

/*
 * Posts the header of one reply after a fence of its own. If another worker makes a fence or waits for one, the header
 * goes by gyre_post_ (tests/models/post.pml).
 */
GYRE_APART_ void gyre_post_lone_(gyre_block_view *view, const gyre_worker *worker, gyre_u32 number)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u32 mine = 0;
    if (lane == 0 && (GYRE_POST_ALONE || atomicCAS(&view->posting, 0u, 1u) == 0)) {
        gyre_release_system_(); /* the payload goes out before the sequence */
        gyre_chunk_store_(gyre_reply_at_(&view->served[worker->which], worker->first),
                          worker->cells[view->stage.request_chunks]);
        atomicExch(&view->posting, 0u);
        mine = 1;
    }
    if (!__shfl_sync(gyre_first_warp_(), mine, 0))
        gyre_post_(view, number);
}

#endif
