/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages beyond one line, actors, block kernels, and queues that several blocks share. Included by
 * cuda_resident.h.
 *
 * A run of requests is copied into the stage (cuda_move.h), handled there, and the replies are copied back.
 * In lane kernels a block is several workers, each of which does all of that for itself, so that while one
 * waits for the bus others handle. With messages that do not fit a worker's share of the memory, with block
 * kernels and with actors the whole block is one worker.
 */
#ifndef GYRE_DIALECT_CUDA_STAGE_H
#define GYRE_DIALECT_CUDA_STAGE_H

#define GYRE_ACTOR_CLOCKS    200000 /* 100 us: what of a run is not handled by then is left for the next */
#define GYRE_ACTOR_NEAR_MOST 1024   /* bytes of a state that is in shared memory while messages are served */

/** What follows from a kernel's types; sizes in chunks. */
template <class K> struct gyre_stage_ {
    enum {
        request_chunks = GYRE_CUDA_CHUNKS(K::request_size_),
        reply_payload = K::reply_size_ > GYRE_SLOT_SMALL_PAYLOAD ? K::reply_size_ : GYRE_SLOT_SMALL_PAYLOAD,
        reply_chunks = GYRE_CUDA_CHUNKS(reply_payload),
        cell = GYRE_CUDA_CELL(K::request_size_, reply_payload),
        scratch_chunks = K::kernel_form_ == 2 ? (K::scratch_size_ + 15) / 16 : 0,
        room = GYRE_CUDA_ROOM(__CUDA_ARCH__) / 16,
        in_shared = scratch_chunks + cell <= room,
        by_workers = K::kernel_form_ == 1 && cell <= room / GYRE_CUDA_WORKERS_MAX,
        dense = (by_workers || K::kernel_form_ == 3) && GYRE_CUDA_DENSE(K::request_size_),
        near = K::kernel_form_ == 3 && K::state_size_ > sizeof(gyre_none) &&
               K::state_size_ <= GYRE_ACTOR_NEAR_MOST
    };
};

/* ---- handling ---- */

/* A request that does not get to the handler. Returns 1 when it is settled that way. */
template <class K>
GYRE_HELPER gyre_u32 gyre_settle_(const gyre_slot *in, gyre_slot *out, gyre_u64 index, gyre_u64 drop_before,
                                  int writes)
{
    const int dropped = index < drop_before,
              wrong = GYRE_LENGTH_WRONG_(in->length, K::request_least_, K::request_size_,
                                         GYRE_FIRST_WORD_(in + 1));
    if (writes && dropped) {
        out->length = 0;
        out->info = GYRE_OUTCOME_DROPPED;
    } else if (writes && wrong) {
        gyre_write_failure_(out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
    }
    return dropped || wrong;
}

template <class K> GYRE_HELPER gyre_u32 gyre_reply_length_(const gyre_slot *out)
{
    return GYRE_REPLY_LENGTH_(K::reply_least_, K::reply_size_, GYRE_FIRST_WORD_(out + 1));
}

/* What follows a slot's header in the stage, for handlers, whose compiler is to know how it is aligned. */
GYRE_HELPER void *gyre_payload_(const gyre_slot *slot)
{
    return __builtin_assume_aligned((void *)(slot + 1), sizeof(gyre_chunk));
}

/* One message by one thread. Returns 1 when the handler failed it. */
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
        GYRE_HEADER_AT_(gyre, index);
        GYRE_STAMP_BEGIN_(gyre, started);
        const int result = gyre_seal_holds_(gyre, index, in + 1, in->length)
                               ? K::handle_(gyre_payload_(in), gyre_payload_(out), state, 0, buffers, gyre)
                               : GYRE_FAILED;
        failed = gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
        gyre_seal_reply_(gyre, index, out->info, out + 1, out->length);
        GYRE_STAMP_END_(gyre, index, started);
    }
    out->sequence = index + 1;
    return failed;
}

/* One message by all threads. Returns, in thread 0, whether it failed. What the handler leaves few registers
 * for is read anew behind it. */
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
        __syncthreads();
        GYRE_HEADER_AT_(gyre, worker->first + slot);
        GYRE_STAMP_BEGIN_(gyre, started);
        const int result =
            gyre_seal_holds_(gyre, worker->first + slot, in + 1, in->length)
                ? K::handle_(gyre_payload_(in), gyre_payload_(out), state, scratch, buffers, gyre)
                : GYRE_FAILED;
        failed = gyre_block_end_(gyre, out, result, gyre_reply_length_<K>(out));
        if (gyre->lane == 0) {
            GYRE_STAMP_END_(gyre, worker->first + slot, started);
            if (!failed) /* else another lane may be writing it */
                gyre_seal_reply_(gyre, worker->first + slot, out->info, out + 1, out->length);
        }
    }
    if (gyre->lane != 0)
        return 0;
    out->sequence = worker->first + slot + 1;
    return failed;
}

/* The block's run, one message after the other; how many failed is counted by thread 0. */
template <class K>
GYRE_HELPER void gyre_handle_in_turn_(gyre_block_view *view, gyre_chunk *cells, const gyre_worker *worker,
                                      void *state, void *scratch, const void *buffers, gyre_context *gyre)
{
    gyre_u32 slot = 0;
    do {
        if (gyre_handle_block_<K>(cells, slot, worker, state, scratch, buffers, gyre))
            atomicAdd(&view->failed, 1ull);
        gyre_together_(); /* nobody looks any more at what the lanes shared of this message */
    } while (++slot < worker->count);
}

/*
 * An actor's messages, one after the other, by one thread. After GYRE_ACTOR_CLOCKS it leaves the rest of the
 * run for the next one, so that neither replies nor another order wait for more than one message that takes
 * long: nobody else takes from its queues. What the run is, is read once: each reply may have changed it, as
 * the compiler sees it. Returns how many failed.
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

/* The run that lies in the stage. Returns how many messages this thread failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_run_(gyre_block_view *view, gyre_chunk *memory, gyre_chunk *cells,
                                      gyre_u32 threads, void *state, const void *buffers, gyre_context *gyre)
{
    gyre_worker *worker = &view->workers[threadIdx.x / threads];
    const gyre_u32 thread = threadIdx.x % threads;
    GYRE_QUEUE_BEGIN_(gyre, &view->served[worker->which]);
    if constexpr (K::kernel_form_ == 2) {
        gyre_handle_in_turn_<K>(view, cells, worker, state, memory, buffers, gyre);
    } else if constexpr (K::kernel_form_ == 3) {
        if (thread == 0)
            return gyre_handle_actor_<K>(view, cells, state, buffers, gyre);
    } else {
        if (thread < worker->count)
            return gyre_handle_staged_<K>(cells, thread, worker, state, buffers, gyre);
    }
    return 0;
}

/* ---- an actor's state ---- */

/*
 * While an actor serves its queues nobody else looks at its state, which the host reads when the kernel was
 * told to leave: so a small one is in shared memory meanwhile, and where it belongs before the order that made
 * the block stop is obeyed. All threads; it is there once they met.
 */
GYRE_HELPER void gyre_copy_state_(void *to, const void *from, gyre_u32 size)
{
#pragma unroll 1
    for (gyre_u32 i = threadIdx.x; i < size; i += blockDim.x)
        ((gyre_u8 *)to)[i] = ((const gyre_u8 *)from)[i];
}

template <class K> GYRE_HELPER void *gyre_state_begin_(const gyre_resident_arguments &arguments)
{
    if constexpr (gyre_stage_<K>::near) {
        __shared__ gyre_chunk state[(K::state_size_ + 15) / 16];
        gyre_copy_state_(state, arguments.state, K::state_size_);
        void *there = state;
        asm volatile("" : "+l"(there)); /* one address, in place of making it anew for each message */
        GYRE_IN_SHARED_(there);
        return there;
    }
    return arguments.state;
}

template <class K>
GYRE_HELPER void gyre_state_end_(const gyre_resident_arguments &arguments, const void *state)
{
    if constexpr (gyre_stage_<K>::near)
        gyre_copy_state_(arguments.state, state, K::state_size_);
}

/* Whether all queues of the block store their requests back to back. Not unrolled: that is found out once an
 * order, and each kernel has this loop. */
GYRE_HELPER gyre_u32 gyre_all_bridged_(const gyre_block_view *view)
{
    gyre_u32 all = GYRE_BRIDGED_REQUESTS_;
#pragma unroll 1
    for (gyre_u32 i = 0; i < view->queue_count; i++)
        all &= view->served[i].kind;
    return all;
}

/*
 * Threads of a worker. Blocks that share a queue of messages stored back to back take many at once, each block
 * as one worker: what small takes cost is the time from claim to claim, which is a journey to the device's
 * memory and back whatever their number.
 */
#ifndef GYRE_BRIDGE_WORKER_SIZE
#define GYRE_BRIDGE_WORKER_SIZE 256
#endif
template <class K> GYRE_HELPER gyre_u32 gyre_worker_threads_(const gyre_block_view *view, gyre_u32 bridged)
{
    if (!gyre_stage_<K>::by_workers)
        return blockDim.x;
    if (bridged && view->team_size > 1)
        return blockDim.x > GYRE_BRIDGE_WORKER_SIZE ? GYRE_BRIDGE_WORKER_SIZE : blockDim.x;
    return GYRE_CUDA_WORKER(blockDim.x);
}

template <class K>
GYRE_HELPER void gyre_serve_staged_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    typedef gyre_stage_<K> stage;
    const gyre_u32 bridged = gyre_all_bridged_(view);
    const gyre_u32 threads = gyre_worker_threads_<K>(view, bridged);
    const gyre_u32 wanted = K::kernel_form_ == 2   ? stage::in_shared ? GYRE_BLOCK_WINDOW : 1
                            : K::kernel_form_ == 3 ? GYRE_ACTOR_MOST
                                                   : threads;
    const gyre_u32 size =
        stage::in_shared ? gyre_dynamic_size_() - 16 * stage::scratch_chunks : GYRE_CUDA_STAGE_SIZE;
    gyre_stage_make_(
        view, threads, size, wanted, stage::request_chunks, stage::reply_chunks,
        (stage::in_shared ? GYRE_STAGE_SHARED_ : 0) | (stage::dense && !bridged ? GYRE_STAGE_DENSE_ : 0) |
            (K::kernel_form_ == 2 ? GYRE_STAGE_BLOCK_ : 0) | (K::kernel_form_ == 3 ? GYRE_STAGE_ACTOR_ : 0));
    void *state = gyre_state_begin_<K>(arguments);
    __syncthreads();
    /* where a constant says that cells are in shared memory, the compiler makes quicker accesses */
    gyre_chunk *cells =
        stage::in_shared
            ? memory + stage::scratch_chunks + threadIdx.x / threads * view->stage.window * stage::cell
            : (gyre_chunk *)(arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE);
    while (gyre_next_run_(arguments, view, cells, threads))
        gyre_end_run_(arguments, view, threads,
                      gyre_handle_run_<K>(view, memory, cells, threads, state, buffers, gyre));
    gyre_state_end_<K>(arguments, state);
    __syncthreads();
}

template <class K>
GYRE_HELPER void gyre_serve_lanes_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *memory, const void *buffers)
{
    constexpr int lines = K::kernel_form_ == 1 && K::request_size_ <= GYRE_SLOT_SMALL_PAYLOAD &&
                          K::reply_size_ <= GYRE_SLOT_SMALL_PAYLOAD;
    if constexpr (lines) {
        if (view->team_size == 1) {
            gyre_serve_lines_<K>(arguments, view, memory, buffers);
            return;
        }
    }
    gyre_context gyre;
    gyre_context_make_(&gyre, arguments, 0);
    if (K::kernel_form_ == 3)
        gyre.lane_count = 1; /* the other threads only help to move messages */
    gyre_serve_staged_<K>(arguments, view, memory, buffers, &gyre);
}

template <class K>
GYRE_HELPER void gyre_serve_block_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *memory, const void *buffers)
{
    __shared__ gyre_block_shared shared;
    gyre_context gyre;
    gyre_context_make_(&gyre, arguments, &shared);
    gyre_serve_staged_<K>(arguments, view, memory, buffers, &gyre);
}

#endif
