/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How workers find requests and share them out. A worker is a group of warps, or a whole block; its first warp looks
 * for requests. A part (see cuda_resident.h): it runs once a run of messages, never once a message. Included by
 * cuda_resident.h.
 *
 * Of the idle workers of a queue, two look across the bus, out of phase (the pollers); the others watch the claims,
 * which lie on the device. Lane 0 decides every step, from words that others change at any time, and the other lanes
 * learn of it through shuffles: so the lanes never part.
 */
#ifndef GYRE_DIALECT_CUDA_SEEK_H
#define GYRE_DIALECT_CUDA_SEEK_H

#include "gyre/dialect/cuda_seeker.h"
#include "gyre/dialect/cuda_promise.h"

/*
 * Takes up to a window of the `there` requests from seeker->first on. A member of a team leaves some for the other
 * blocks, once each lane of a warp has one. The lanes of a block kernel work on one request together.
 */
GYRE_HELPER gyre_u32 gyre_take_(gyre_block_view *view, gyre_seeker_ *seeker, gyre_cuda_claims *claims,
                                gyre_u64 there)
{
    const gyre_u32 all = there < 0xffffu ? (gyre_u32)there : 0xffffu, team = view->team_size;
    const gyre_u32 bridged = view->served[seeker->which].kind & GYRE_BRIDGED_REPLIES_;
    const gyre_u32 even = team > 1 ? (all + team - 1) / team : all;
    const gyre_u32 lanes = view->stage.most ? 1 : bridged ? view->stage.threads / 2 : 32;
    const gyre_u32 least = all < lanes ? all : lanes, share = even > least ? even : least;
    gyre_u32 taken = share < view->stage.window ? share : view->stage.window;
    seeker->spare = 0;
    if (bridged && seeker->limit < seeker->first + taken) {
        const gyre_u32 promise = gyre_bridge_promise_(view, seeker->which, seeker->first, taken);
        if (promise == 0)
            return GYRE_SEEK_REST_; /* wait until the host has received more replies */
        seeker->spare = promise & GYRE_PROMISE_SPARE_;
        taken = promise & ~GYRE_PROMISE_SPARE_;
    }
    seeker->count =
        atomicCAS(&claims->next, seeker->first, seeker->first + taken) == seeker->first ? taken : 0;
    return seeker->count ? GYRE_SEEK_DONE_ : GYRE_SEEK_REST_;
}

/* Whether cuda_lone.h has a shorter way for the queue, and the worker has lanes enough to take it. */
GYRE_HELPER gyre_u32 gyre_lone_may_(const gyre_block_view *view)
{
    return view->queue_count == 1 && blockDim.x >= GYRE_SEEK_NARROW + 2 &&
           !(view->served[0].kind & (GYRE_BRIDGED_REQUESTS_ | GYRE_BRIDGED_REPLIES_));
}

/*
 * Whether looks also read the express lines of the block's queue (cuda_express.h): only while lone requests come. Such
 * looks read a kilobyte or two in place of a line, so if nobody calls, they would only slow down others.
 */
#define GYRE_EXPRESS_CLOCKS 8000000 /* 4 ms */
GYRE_HELPER gyre_u32 gyre_express_wanted_(const gyre_block_view *view)
{
    const gyre_served *queue = &view->served[0];
    return queue->express && view->stage.in_shared && blockDim.x >= 32 &&
           (gyre_u64)clock64() - *(const volatile gyre_u64 *)&queue->lone_at < GYRE_EXPRESS_CLOCKS;
}

/* Whether blocks share the queue, and the worker that looked for requests should wait for a lone request. */
GYRE_HELPER gyre_u32 gyre_is_quiet_(const gyre_block_view *view, const gyre_seeker_ *seeker)
{
    return view->team_size > 1 && seeker->empty >= GYRE_SEEK_QUIET && gyre_lone_may_(view);
}

/*
 * Whether a worker that is about to look should wait for a lone request: others took lone requests a moment ago, so it
 * need not first see that nothing is there.
 */
GYRE_HELPER gyre_u32 gyre_stays_quiet_(const gyre_block_view *view, const gyre_seeker_ *seeker)
{
    return view->team_size > 1 && !seeker->wide && gyre_lone_may_(view) && gyre_express_wanted_(view);
}

/* Decides the next step. Called by lane 0. */
GYRE_HELPER gyre_u32 gyre_seek_step_(gyre_block_view *view, gyre_seeker_ *seeker)
{
    gyre_cuda_claims *claims = view->served[seeker->which].claims;
    if (*(volatile gyre_u32 *)&view->go)
        return GYRE_SEEK_LEAVE_;
    seeker->first = gyre_near_load_(&claims->next);
    const gyre_u64 ready = gyre_near_load_(&claims->ready);
    if (view->served[seeker->which].kind & GYRE_BRIDGED_REPLIES_)
        seeker->limit = gyre_near_load_(&claims->limit);
    if (seeker->first < ready)
        return gyre_take_(view, seeker, claims, ready - seeker->first);
    if (!gyre_may_poll_(view, seeker, claims))
        return GYRE_SEEK_REST_;
    if (gyre_stays_quiet_(view, seeker)) {
        seeker->empty = GYRE_SEEK_QUIET;
        return GYRE_SEEK_LEAVE_;
    }
    return GYRE_SEEK_LOOK_ | (seeker->wide ? GYRE_SEEK_WIDE_ : 0) |
           (seeker->polls++ % GYRE_SEEK_POLLS_PER_ORDER ? 0 : GYRE_SEEK_ASKS_) |
           seeker->which << GYRE_SEEK_WHICH_0;
}

/*
 * Returns the rows that a look reads where there was a backlog. One of two numbers that the compiler knows: with any
 * other number, looks became slower than their length explains.
 */
GYRE_HELPER gyre_u32 gyre_look_rows_(const gyre_block_view *view, const gyre_served *queue)
{
    const gyre_u32 few = view->team_size == 1 || queue->mask < 32 * GYRE_SEEK_ROWS - 1;
    return few && queue->request_stride > GYRE_SEEK_LARGE ? GYRE_SEEK_ROWS_LARGE : GYRE_SEEK_ROWS;
}

/*
 * Looks once across the bus from index `next` on; returns how many requests are there, one after the other. Called by
 * a warp, with all reads under way together.
 */
GYRE_HELPER gyre_u32 gyre_look_(gyre_block_view *view, const gyre_served *queue, gyre_u64 next, gyre_u32 step)
{
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31, wide = step & GYRE_SEEK_WIDE_;
    const gyre_u32 rows = wide ? gyre_look_rows_(view, queue) : 1, slots = wide ? 32 : GYRE_SEEK_NARROW;
    gyre_u64 sequences[GYRE_SEEK_ROWS], order = view->order;
    gyre_u32 found = 0, full = 1;
    if (lane == 0 && step & GYRE_SEEK_ASKS_)
        order = gyre_word_load_(view->order_word);
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_SEEK_ROWS; row++) {
        sequences[row] = 0;
        if (row < rows && lane < slots)
            sequences[row] = gyre_word_load_(&gyre_request_at_(queue, next + row * 32 + lane)->sequence);
    }
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_SEEK_ROWS; row++) {
        const gyre_u32 there = __ballot_sync(mask, sequences[row] == next + row * 32 + lane + 1);
        if (full)
            found += there == 0xffffffffu ? 32 : (gyre_u32)__ffs((int)~there) - 1;
        full = full && there == 0xffffffffu;
    }
    if (order != view->order || (lane == 0 && step & GYRE_SEEK_ASKS_ && GYRE_IS_WOKEN_(view)))
        atomicExch(&view->go, GYRE_GO_ORDER);
    return found;
}

/*
 * Whether enough requests are known and not taken, so that no worker needs to look ahead. A worker that has its queue
 * for itself needs to know only its next run. A look takes longer than the requests of a small run need to arrive, and
 * would otherwise be made for each run.
 */
GYRE_HELPER gyre_u32 gyre_known_enough_(const gyre_block_view *view, const gyre_served *queue)
{
    const gyre_u32 alone = view->team_size == 1 && view->stage.threads == blockDim.x;
    return alone ? view->stage.window : GYRE_SEEK_AHEAD * 32 * gyre_look_rows_(view, queue);
}

/*
 * Where there is a backlog, looks for further requests for the other workers, while the worker's own requests are
 * under way to it. Called by the worker's first warp.
 */
GYRE_HELPER void gyre_look_ahead_(gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31;
    const gyre_served *queue = &view->served[worker->which];
    gyre_cuda_claims *claims = queue->claims;
    gyre_u64 from = 0;
    gyre_u32 looks = 0;
    if (lane == 0 && (worker->wide || worker->count > GYRE_SEEK_NARROW)) {
        const gyre_u64 next = gyre_near_load_(&claims->next), ready = gyre_near_load_(&claims->ready);
        from = ready > next ? ready : next;
        looks = from - next < gyre_known_enough_(view, queue) && atomicCAS(&claims->pollers[0], 0u, 1u) == 0;
    }
    if (!__shfl_sync(mask, looks, 0))
        return;
    from = __shfl_sync(mask, from, 0);
    const gyre_u32 found = gyre_look_(view, queue, from, GYRE_SEEK_WIDE_);
    if (lane == 0) {
        if (found)
            atomicMax(&claims->ready, from + found);
        atomicExch(&claims->pollers[0], 0u);
    }
}

/* Makes the found requests known, and takes some of them for this worker. Called by lane 0. */
GYRE_HELPER gyre_u32 gyre_note_found_(gyre_block_view *view, gyre_seeker_ *seeker, gyre_u32 found)
{
    gyre_cuda_claims *claims = view->served[seeker->which].claims;
    seeker->wide = found >= GYRE_SEEK_NARROW;
    seeker->empty = found ? 0 : seeker->empty + 1;
    if (!found)
        return gyre_is_quiet_(view, seeker) ? GYRE_SEEK_LEAVE_ : GYRE_SEEK_REST_;
    if (found > 1)
        atomicMax(&claims->ready, seeker->first + found);
    return gyre_take_(view, seeker, claims, found);
}

/* Rests between two steps that led to nothing. Called by lane 0. */
GYRE_HELPER void gyre_seek_rest_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                 const gyre_seeker_ *seeker)
{
    gyre_tell_counts_(arguments, view);
    gyre_rest_(seeker->phase ? arguments.pause_ns : GYRE_SEEK_REST_NS + GYRE_SEEK_TEAM_NS * view->team_size);
    if (!seeker->phase && view->team_size > 1) /* the polling workers may belong to another block */
        gyre_ask_(view, blockIdx.x == 0 ? GYRE_SEEK_ASK_HOST_CLOCKS : GYRE_SEEK_ASK_RELAY_CLOCKS);
}

/* Rests, and turns to the next queue. Called by lane 0. */
GYRE_HELPER void gyre_seek_on_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                               gyre_seeker_ *seeker)
{
    gyre_seek_rest_(arguments, view, seeker);
    if (view->queue_count == 1)
        return;
    gyre_stop_polling_(seeker, view->served[seeker->which].claims);
    seeker->which = gyre_queue_after_(view, seeker->which);
}

/*
 * Looks at the block's queues in turn until there is work for `worker`, as much as its window holds. Another order, or
 * a quiet queue (gyre_is_quiet_), ends the search with a count of 0. Called by the worker's first warp; the worker's
 * words are there once its threads have met.
 */
GYRE_HELPER void gyre_seek_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_worker *worker)
{
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31;
    gyre_seeker_ seeker = {0};
    gyre_u32 step = GYRE_SEEK_REST_;
    if (lane == 0) { /* lane 0 writes these words at the end; volatile, so that no other lane reads ahead */
        seeker.which = *(volatile gyre_u32 *)&worker->which;
        seeker.wide = *(volatile gyre_u32 *)&worker->wide;
        if (gyre_look_up_now_(view, &view->served[seeker.which]))
            seeker.which = gyre_queue_after_(view, seeker.which);
    }
    do {
        if (lane == 0)
            step = gyre_seek_step_(view, &seeker);
        step = __shfl_sync(mask, step, 0);
        if ((step & 3u) == GYRE_SEEK_LOOK_) {
            const gyre_u64 next = __shfl_sync(mask, seeker.first, 0);
            const gyre_served *queue = &view->served[step >> GYRE_SEEK_WHICH_0];
            const gyre_u32 far = step & GYRE_SEEK_WIDE_ && !(step & GYRE_SEEK_ASKS_) && blockDim.x >= 32 &&
                                 queue->kind & GYRE_BRIDGED_REQUESTS_;
            const gyre_u32 found = far ? gyre_bridge_look_(queue, next) : gyre_look_(view, queue, next, step);
            if (lane == 0)
                step = gyre_note_found_(view, &seeker, found);
            step = __shfl_sync(mask, step, 0);
        }
        if (lane == 0 && step == GYRE_SEEK_REST_)
            gyre_seek_on_(arguments, view, &seeker);
    } while (step == GYRE_SEEK_REST_);
    if (lane == 0) {
        worker->kept_phase = gyre_is_quiet_(view, &seeker) ? seeker.phase : 0;
        if (!worker->kept_phase)
            gyre_stop_polling_(&seeker, view->served[seeker.which].claims);
        worker->first = seeker.first;
        worker->count = seeker.count;
        worker->which = seeker.which;
        worker->wide = seeker.wide;
        worker->spare = seeker.spare != 0;
        worker->drop_before = *(volatile gyre_u64 *)&view->served[seeker.which].dropping;
    }
    __syncwarp(mask);
}

#endif
