/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves messages beyond one line, actors, block kernels, and queues that several blocks share. Included by
 * cuda_resident.h. Smaller messages of lane kernels go by cuda_lines.h.
 *
 * A run of requests is copied into the stage (cuda_move.h), handled there, and the replies are copied back. In lane
 * kernels a block is several workers, each of which does all of that by itself: while one worker waits for the bus,
 * others handle. The whole block is one worker for block kernels, for actors, and if messages do not fit a worker's
 * share of the memory.
 */
#ifndef GYRE_DIALECT_CUDA_STAGE_H
#define GYRE_DIALECT_CUDA_STAGE_H

#define GYRE_ACTOR_CLOCKS 200000 /* 100 us: messages not handled by then go to the next run */
/* most bytes of a state that is in shared memory while messages are served */
#define GYRE_ACTOR_NEAR_MOST 1024

/** Constants that follow from a kernel's types. Sizes in chunks. */
template <class K> struct gyre_stage_ {
    enum {
        request_chunks = GYRE_CUDA_CHUNKS(K::gyre_its_request_size_),
        reply_payload = K::gyre_its_reply_size_ > GYRE_SLOT_SMALL_PAYLOAD ? K::gyre_its_reply_size_
                                                                          : GYRE_SLOT_SMALL_PAYLOAD,
        reply_chunks = GYRE_CUDA_CHUNKS(reply_payload),
        cell = GYRE_CUDA_CELL(K::gyre_its_request_size_, reply_payload),
        scratch_chunks =
            GYRE_FORM_SHARES_(K::gyre_its_kernel_form_) ? (K::gyre_its_scratch_size_ + 15) / 16 : 0,
        room =
            (GYRE_CUDA_ROOM(__CUDA_ARCH__) - (K::gyre_its_kernel_form_ == 4 ? GYRE_KEYED_RUN_MOST : 0)) / 16,
        in_shared = scratch_chunks + cell <= room,
        by_workers = K::gyre_its_kernel_form_ == 1 && cell <= room / GYRE_CUDA_WORKERS_MAX,
        dense = (by_workers || K::gyre_its_kernel_form_ == 3) && GYRE_CUDA_DENSE(K::gyre_its_request_size_),
        lines = K::gyre_its_kernel_form_ == 1 && K::gyre_its_request_size_ <= GYRE_SLOT_SMALL_PAYLOAD &&
                K::gyre_its_reply_size_ <= GYRE_SLOT_SMALL_PAYLOAD,
        near = K::gyre_its_kernel_form_ == 3 && K::gyre_its_state_size_ > sizeof(gyre_none) &&
               K::gyre_its_state_size_ <= GYRE_ACTOR_NEAR_MOST
    };
};

/* ---- handling ---- */

/* Settles a request that does not get to the handler. Returns 1 when it is settled that way. */
template <class K>
GYRE_HELPER gyre_u32 gyre_settle_(const gyre_slot *in, gyre_slot *out, gyre_u64 index, gyre_u64 drop_before,
                                  int writes)
{
    const gyre_u32 length = in->length, said = GYRE_FIRST_WORD_(in + 1);
    const int dropped = index < drop_before,
              wrong = GYRE_LENGTH_WRONG_(length, K::gyre_its_request_least_, K::gyre_its_request_size_, said);
    if (!dropped && !wrong)
        return 0;
    if (writes)
        gyre_refuse_(out, dropped);
    return 1;
}

template <class K> GYRE_HELPER gyre_u32 gyre_reply_length_(const gyre_slot *out)
{
    const gyre_u32 used = GYRE_FIRST_WORD_(out + 1);
    return GYRE_REPLY_LENGTH_(K::gyre_its_reply_least_, K::gyre_its_reply_size_, used);
}

/* Returns the payload behind a slot's header in the stage, and tells the handler's compiler its alignment. */
GYRE_HELPER void *gyre_payload_(const gyre_slot *slot)
{
    return __builtin_assume_aligned((void *)(slot + 1), sizeof(gyre_chunk));
}

/* Handles one message by one thread. Returns 1 when the handler failed it. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_staged_(gyre_chunk *cells, gyre_u32 slot, const gyre_worker *worker,
                                         void *state, const void *buffers, gyre_context *gyre)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 index = worker->first + slot;
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, index, worker->drop_before, 1)) {
        gyre->failed = 0;
        GYRE_HEADER_TAKE_(gyre, index);
        GYRE_STAMP_BEGIN_(gyre, index, started);
        const int result =
            gyre_seal_holds_(gyre, index, in + 1, in->length)
                ? K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state, 0, buffers, gyre)
                : GYRE_FAILED;
        failed = gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
        gyre_seal_reply_(gyre, index, out->info, out + 1, out->length);
        GYRE_STAMP_END_(gyre, index, started);
    }
    out->sequence = index + 1;
    return failed;
}

/*
 * Handles one message by all threads. Returns, in thread 0, whether it failed. Values are read anew behind the
 * handler, which leaves few registers for them.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_block_(gyre_chunk *cells, gyre_u32 slot, const gyre_worker *worker,
                                        void *state, void *scratch, const void *buffers, gyre_context *gyre)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, worker->first + slot, worker->drop_before, gyre->lane == 0)) {
        gyre_block_begin_(gyre);
        GYRE_HEADER_SHARE_(gyre, worker->first + slot);
        __syncthreads();
        GYRE_STAMP_BEGIN_(gyre, worker->first + slot, started);
        const int result =
            gyre_seal_holds_(gyre, worker->first + slot, in + 1, in->length)
                ? K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state, scratch, buffers, gyre)
                : GYRE_FAILED;
        failed = gyre_block_end_(gyre, out, result, gyre_reply_length_<K>(out));
        if (gyre->lane == 0) {
            GYRE_STAMP_END_(gyre, worker->first + slot, started);
            if (!failed) /* otherwise another lane may be writing it */
                gyre_seal_reply_(gyre, worker->first + slot, out->info, out + 1, out->length);
        }
    }
    if (gyre->lane != 0)
        return 0;
    out->sequence = worker->first + slot + 1;
    return failed;
}

/* Handles the block's run, one message after the other. Thread 0 counts how many failed. */
template <class K>
GYRE_HELPER void gyre_handle_in_turn_(gyre_block_view *view, gyre_chunk *cells, const gyre_worker *worker,
                                      void *state, void *scratch, const void *buffers, gyre_context *gyre)
{
    gyre_u32 slot = 0;
    do {
        if (gyre_handle_block_<K>(cells, slot, worker, state, scratch, buffers, gyre))
            atomicAdd(&view->failed, 1ull);
        gyre_together_(); /* no lane looks any more at the words that the lanes shared for this message */
    } while (++slot < worker->count);
}

/*
 * Handles an actor's messages, one after the other, by one thread. After GYRE_ACTOR_CLOCKS it leaves the remaining
 * messages to the next run, so that replies and another order wait for at most one slow message. It may do so because
 * nobody else takes from its queues. The worker's words are read once, because the compiler assumes that each reply
 * may have changed them. Returns how many messages failed.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_actor_(gyre_block_view *view, gyre_chunk *cells, void *state,
                                        const void *buffers, gyre_context *gyre)
{
    gyre_worker *const worker = &view->workers[0];
    const gyre_worker run = *worker;
    const gyre_u64 started = (gyre_u64)clock64();
    gyre_u32 failed = 0, slot = 0;
    do
        failed += gyre_handle_staged_<K>(cells, slot, &run, state, buffers, gyre);
    while (++slot < run.count && (gyre_u64)clock64() - started < GYRE_ACTOR_CLOCKS);
    if (slot < run.count) {
        worker->count = slot;
        view->served[run.which].claims->next = run.first + slot;
    }
    return failed;
}

/*
 * Handles this thread's share of the run that lies in the stage. `thread`: the thread's number in the worker. Returns
 * how many messages the thread failed.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_run_(gyre_block_view *view, gyre_chunk *memory, gyre_chunk *cells,
                                      gyre_worker *worker, gyre_u32 thread, void *state, const void *buffers,
                                      gyre_context *gyre)
{
    GYRE_QUEUE_BEGIN_(gyre, &view->served[worker->which]);
    if constexpr (GYRE_FORM_SHARES_(K::gyre_its_kernel_form_)) {
        gyre_handle_in_turn_<K>(view, cells, worker, state, memory, buffers, gyre);
    } else if constexpr (K::gyre_its_kernel_form_ == 3) {
        if (thread == 0)
            return gyre_handle_actor_<K>(view, cells, state, buffers, gyre);
    } else {
        if (thread < worker->count)
            return gyre_handle_staged_<K>(cells, thread, worker, state, buffers, gyre);
    }
    return 0;
}

/* ---- the loop ---- */

template <class K> GYRE_HELPER gyre_shape gyre_shape_of_()
{
    typedef gyre_stage_<K> stage;
    return {(stage::in_shared ? GYRE_SHAPE_SHARED_ : 0) | (stage::dense ? GYRE_SHAPE_DENSE_ : 0) |
                (GYRE_FORM_SHARES_(K::gyre_its_kernel_form_) ? GYRE_SHAPE_BLOCK_ : 0) |
                (K::gyre_its_kernel_form_ == 3 ? GYRE_SHAPE_ACTOR_ : 0) |
                (stage::by_workers ? GYRE_SHAPE_WORKERS_ : 0) | (stage::lines ? GYRE_SHAPE_LINES_ : 0),
            stage::request_chunks, stage::reply_chunks, stage::scratch_chunks,
            stage::near ? (gyre_u32)K::gyre_its_state_size_ : 0};
}

/* Returns shared memory for a state that is near (copied there) while the actor serves its queues; otherwise NULL. */
template <class K> GYRE_HELPER void *gyre_near_state_()
{
    if constexpr (gyre_stage_<K>::near) {
        __shared__ gyre_chunk state[(K::gyre_its_state_size_ + 15) / 16];
        void *there = state;
        asm volatile("" : "+l"(there)); /* one address, which is not computed anew for each message */
        GYRE_IN_SHARED_(there);
        return there;
    }
    return 0;
}

/* Returns the words that the lanes of a block kernel share; NULL for other kernels. */
template <class K> GYRE_HELPER gyre_block_shared *gyre_lanes_share_()
{
    if constexpr (GYRE_FORM_SHARES_(K::gyre_its_kernel_form_)) {
        __shared__ gyre_block_shared shared;
        return &shared;
    }
    return 0;
}

/*
 * Serves the block's queues until another order. Called by all threads, each with its seat (its worker and its number
 * there).
 */
template <class K>
GYRE_HELPER void gyre_serve_staged_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                    gyre_chunk *memory, gyre_u32 seat, void *state, const void *buffers,
                                    gyre_context *gyre)
{
    typedef gyre_stage_<K> stage;
    const gyre_u32 threads = view->stage.threads;
    const gyre_u32 thread = stage::by_workers ? GYRE_SEAT_THREAD_(seat) : threadIdx.x;
    const gyre_u32 number = stage::by_workers ? GYRE_SEAT_WORKER_(seat) : 0;
    gyre_worker *worker = &view->workers[number];
    /* if a constant says that cells are in shared memory, the compiler makes quicker accesses */
    gyre_chunk *cells = stage::in_shared
                            ? memory + stage::scratch_chunks + number * view->stage.window * stage::cell
                            : (gyre_chunk *)(arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE);
    while (gyre_next_run_(arguments, view, cells, threads))
        gyre_end_run_(arguments, view, threads,
                      gyre_handle_run_<K>(view, memory, cells, worker, thread, state, buffers, gyre));
}

#include "gyre/dialect/cuda_grid.h"

#if !GYRE_STAGE /* otherwise cuda_links.h has it */
template <class K> GYRE_HELPER void gyre_reside_(const gyre_cuda_arguments &arguments, const void *buffers)
{
#if GYRE_GRID
    if constexpr (K::gyre_its_kernel_form_ == 5) {
        gyre_grid_reside_<K>(arguments, buffers);
        return;
    }
#endif
    extern __shared__ gyre_chunk gyre_dynamic_memory_[];
    __shared__ gyre_block_view view;
    gyre_context gyre;
    gyre_u32 seat;
    void *near = gyre_near_state_<K>();
    void *state = near ? near : arguments.state;
    gyre_context_make_(&gyre, arguments, gyre_lanes_share_<K>());
    if (K::gyre_its_kernel_form_ == 3)
        gyre.lane_count = 1; /* the other threads only help to move messages */
    gyre_arrive_(arguments, &view, gyre_shape_of_<K>(), near);
    while ((seat = gyre_next_order_(arguments, &view)) != 0) {
        if constexpr (gyre_stage_<K>::lines) {
            if (seat == GYRE_SEAT_LINES_) {
                gyre_serve_lines_<K>(arguments, &view, gyre_dynamic_memory_, buffers, &gyre);
                continue;
            }
        }
        gyre_serve_staged_<K>(arguments, &view, gyre_dynamic_memory_, seat, state, buffers, &gyre);
    }
}
#endif

#endif
