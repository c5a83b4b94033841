/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grid kernels on CUDA: all blocks work on one message. In files that are compiled with GYRE_GRID = 1. Included by
 * cuda_resident.h.
 *
 * Block 0 reads the rings and writes replies, as the only block of a block kernel does, and its messages lie in device memory. It
 * posts each message to the other blocks, all blocks call the handler, and block 0 completes the message when all have returned.
 * The others take no messages: they wait for a post, or for an order, which block 0 passes on only between two messages. With one
 * block a grid kernel is a block kernel.
 *
 * All blocks are resident (cuLaunchCooperativeKernel), so a block may wait for another. They meet by one word, which counts the
 * blocks that joined a barrier and those that returned. A block that is still missing at a barrier when another one has returned
 * waits in vain: who returned had joined all of its barriers, and passes none before all are there.
 */
#ifndef GYRE_DIALECT_CUDA_GRID_H
#define GYRE_DIALECT_CUDA_GRID_H

#if GYRE_GRID

/*
 * The word: joins of barriers in the lower half, then the blocks that returned, whether one of them failed, and the sum of the places
 * of the joined barriers, by which blocks at different barriers are told apart. 2^32 joins a message.
 */
#define GYRE_GRID_ENDED_        (1ull << 32)
#define GYRE_GRID_ENDED_OF_(w)  ((gyre_u32)((w) >> 32) & 0xfffu)
#define GYRE_GRID_FAILED_       (1ull << 44)
#define GYRE_GRID_PLACE_(place) ((gyre_u64)(place) << 45)
#define GYRE_GRID_PLACES_       (~0ull << 45)

/** What block 0 says of its message, in device memory: where block 1 of a lane kernel has its stage. */
struct gyre_grid_post_ {
    gyre_u64 word;
    gyre_u64 reserved[15];
    gyre_u64 serial; /* stored last */
    gyre_u64 index;  /* of the message's header */
    gyre_u64 slot;
#if GYRE_HEADED
    const gyre_u8 *headers;
    gyre_u64 header_mask;
    gyre_u32 header_size, foreign;
#endif
#if GYRE_STAGE
    gyre_u64 origin;
    gyre_u64 flow_index; /* of the request that began the flow */
#if GYRE_LIMITED
    void *memory;
    gyre_u32 turn, memory_size;
#if GYRE_ASKS
    gyre_u32 token;
#endif
#endif
#endif
};

/** Why a block's share of a message failed, where the block has its stage. */
struct gyre_grid_failure_ {
    const char *text; /* NULL: it did not fail */
    gyre_i32 code;
};

GYRE_HELPER gyre_grid_post_ *gyre_grid_post_of_(const gyre_cuda_arguments &arguments)
{
    return (gyre_grid_post_ *)(arguments.stage + GYRE_CUDA_STAGE_SIZE + 128);
}

GYRE_HELPER volatile gyre_grid_failure_ *gyre_grid_failure_of_(const gyre_cuda_arguments &arguments,
                                                               gyre_u32 block)
{
    return (volatile gyre_grid_failure_ *)(arguments.stage + (gyre_u64)block * GYRE_CUDA_STAGE_SIZE);
}

/* ---- the barrier ---- */

/*
 * Adds to the word when what the block stored before is there for the others. Lane 0 has met the other lanes: what they stored is part
 * of that.
 */
GYRE_HELPER void gyre_grid_add_(gyre_u64 *word, gyre_u64 value)
{
    asm volatile("red.release.gpu.global.add.u64 [%0],%1;" ::"l"(word), "l"(value) : "memory");
}

/* What the others stored before they added to the word is read from here on. */
GYRE_HELPER void gyre_grid_acquire_(void)
{
#if __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
    asm volatile("fence.acquire.gpu;" ::: "memory");
#else
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

/* Joins the next barrier and waits for the other blocks. Called by lane 0, after the lanes have met. */
GYRE_HELPER void gyre_grid_join_(gyre_context *gyre, gyre_u32 place)
{
    const gyre_u32 all = ++gyre->grid_joins * gridDim.x;
    gyre_u64 word;
    gyre->grid_places += place;
    gyre_grid_add_(gyre->grid, 1 | GYRE_GRID_PLACE_(place));
    do
        word = gyre_near_load_(gyre->grid);
    while ((gyre_u32)word < all && !GYRE_GRID_ENDED_OF_(word));
    gyre_grid_acquire_();
    if ((gyre_u32)word < all ||
        ((gyre_u32)word == all &&
         (word & GYRE_GRID_PLACES_) != GYRE_GRID_PLACE_((gyre_u64)gyre->grid_places * gridDim.x)))
        *(volatile gyre_u32 *)&gyre->shared->grid_parted = 1;
}

/*
 * Counts as two barriers of the block, as a fold does: one after which lane 0 joins, and one that the lanes leave when it is back. A lane
 * that was elsewhere at the first fails the message, and the block joins no more in it.
 */
GYRE_HELPER void gyre_grid_meet_(gyre_context *gyre, gyre_u32 place)
{
    volatile gyre_block_shared *shared = gyre->shared;
    if (gyre->in_block != GYRE_IN_GRID_) {
        gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "grid barriers are for grid kernels");
        return;
    }
    const gyre_u32 turn = gyre->barrier_turn;
    const int met = gyre_meet_(gyre, place);
    if (!met)
        shared->parted = turn;
    else if (gyre->lane == 0 && gyre->grid && !shared->grid_parted)
        gyre_grid_join_(gyre, place);
    gyre->barrier_turn++;
    gyre_together_();
    if (!gyre->grid)
        return;
    if (shared->parted == turn)
        shared->grid_parted = 1; /* the others learn it when this block returns */
    else if (shared->grid_parted)
        gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "the blocks of a grid met different barriers");
}

/* ---- a message ---- */

/* Begins a message in this block. Called by all threads, which are together afterwards. */
GYRE_HELPER void gyre_grid_begin_(gyre_context *gyre, gyre_u64 header)
{
    gyre->grid_joins = gyre->grid_places = 0;
    if (gyre->lane == 0)
        gyre->shared->grid_parted = 0;
    gyre_block_begin_(gyre);
    GYRE_HEADER_SHARE_(gyre, header);
    __syncthreads();
    (void)header;
}

/* Calls the handler in this block, whose lanes are together afterwards. */
template <class K>
GYRE_HELPER int gyre_grid_call_(const gyre_slot *in, gyre_slot *out, void *state, void *scratch,
                                const void *buffers, gyre_context *gyre)
{
    const int result =
        K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state, scratch, buffers, gyre);
    gyre_wait_for_returns_(gyre);
    if (gyre->failed)
        atomicMin(&gyre->shared->first_failed, gyre_failure_rank_(gyre));
    gyre_together_();
    return result;
}

/* Posts a message to the other blocks. Called by all threads of block 0, which have stored their share of it. */
GYRE_HELPER void gyre_grid_tell_(const gyre_cuda_arguments &arguments, gyre_u64 index, gyre_u32 slot,
                                 const gyre_context *gyre)
{
    gyre_grid_post_ *post = gyre_grid_post_of_(arguments);
    __syncthreads();
    if (gyre->lane > 0)
        return;
    *(volatile gyre_u64 *)&post->word = 0;
    post->index = index;
    post->slot = slot;
#if GYRE_HEADED
    post->headers = gyre->headers;
    post->header_mask = gyre->header_mask;
    post->header_size = gyre->header_size;
    post->foreign = gyre->foreign;
#endif
#if GYRE_STAGE
    post->origin = gyre->origin;
    post->flow_index = gyre->entry ? gyre_flow_index_(gyre->entry, gyre->origin) : gyre->index;
#if GYRE_LIMITED
    post->memory = gyre->memory;
    post->memory_size = gyre->memory_size;
    post->turn = gyre->turn;
#if GYRE_ASKS
    post->token = gyre->token;
#endif
#endif
#endif
    asm volatile("st.release.gpu.global.u64 [%0],%1;" ::"l"(&post->serial), "l"(post->serial + 1) : "memory");
}

/* Says that the block has returned. Called by lane 0, after the lanes have met. */
GYRE_HELPER void gyre_grid_end_(const gyre_cuda_arguments &arguments)
{
    gyre_grid_add_(&gyre_grid_post_of_(arguments)->word, GYRE_GRID_ENDED_);
}

/*
 * Finds the block that speaks for a failed message: the lowest that failed by itself, else the lowest that missed a barrier. Called by
 * all threads of block 0; returns it with the bit of gyre_failure_rank_.
 */
GYRE_HELPER gyre_u32 gyre_grid_speaker_(const gyre_cuda_arguments &arguments, gyre_context *gyre)
{
    volatile gyre_block_shared *shared = gyre->shared;
    for (gyre_u32 block = 1 + gyre->lane; block < gridDim.x; block += gyre->lane_count) {
        volatile gyre_grid_failure_ *failure = gyre_grid_failure_of_(arguments, block);
        if (failure->text)
            atomicMin(&gyre->shared->grid_failed,
                      block | (failure->code == GYRE_FAILURE_BARRIER ? 0x10000u : 0));
    }
    if (gyre->lane == 0 && shared->first_failed != 0xffffffffu)
        atomicMin(&gyre->shared->grid_failed, shared->first_failed & 0x10000u);
    gyre_together_();
    return shared->grid_failed;
}

/*
 * Waits until all blocks have returned, and completes the message. Returns, to all lanes of block 0, whether it failed.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_grid_complete_(const gyre_cuda_arguments &arguments, gyre_slot *out, int result,
                                         gyre_context *gyre)
{
    volatile gyre_block_shared *shared = gyre->shared;
    if (gyre->lane == 0) {
        gyre_u64 word;
        gyre_grid_end_(arguments);
        do
            word = gyre_near_load_(&gyre_grid_post_of_(arguments)->word);
        while (GYRE_GRID_ENDED_OF_(word) < gridDim.x);
        gyre_grid_acquire_();
        shared->grid_any = (word & GYRE_GRID_FAILED_) != 0;
        shared->grid_failed = 0xffffffffu;
    }
    gyre_together_();
    const gyre_u32 speaker = shared->grid_any ? gyre_grid_speaker_(arguments, gyre) : 0;
    if ((speaker & 0xffffu) == 0)
        return gyre_block_complete_(gyre, out, result, gyre_reply_length_<K>(out));
    if (gyre->lane == 0) {
        volatile gyre_grid_failure_ *failure = gyre_grid_failure_of_(arguments, speaker & 0xffffu);
        gyre_write_failure_(out, failure->code, failure->text);
    }
    return 1;
}

/*
 * Handles a message that block 0 has begun (gyre_grid_begin_), by all blocks, and completes it. `header`: the index of its header. Called
 * by all threads of block 0. Returns, to all of them, whether the message failed.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_grid_run_(const gyre_cuda_arguments &arguments, gyre_chunk *cells, gyre_u32 slot,
                                    gyre_u64 header, void *state, void *scratch, const void *buffers,
                                    gyre_context *gyre)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    gyre_grid_tell_(arguments, header, slot, gyre);
    const int result = gyre_grid_call_<K>((const gyre_slot *)cell, out, state, scratch, buffers, gyre);
    return gyre_grid_complete_<K>(arguments, out, result, gyre);
}

/* ---- the other blocks ---- */

/* Waits for block 0's next message. Returns 0 at another order. Called by all threads of another block. */
GYRE_HELPER gyre_u32 gyre_grid_listen_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                       gyre_block_shared *shared)
{
    const gyre_grid_post_ *post = gyre_grid_post_of_(arguments);
    __syncthreads(); /* all threads have left the last message */
    if (threadIdx.x == 0) {
        gyre_u64 serial;
        while ((serial = gyre_device_load_(&post->serial)) == shared->grid_serial &&
               !gyre_order_changed_(view))
            ;
        shared->grid_there = serial != shared->grid_serial;
        shared->grid_serial = serial;
    }
    __syncthreads();
    return *(volatile gyre_u32 *)&shared->grid_there;
}

/* Takes up what block 0 said of the message. */
GYRE_HELPER void gyre_grid_adopt_(const volatile gyre_grid_post_ *post, gyre_context *gyre)
{
#if GYRE_HEADED
    GYRE_HEADER_QUEUE_(gyre, (const gyre_u8 *)post->headers, post->header_size, post->header_mask);
    GYRE_HEADER_FOREIGN_(gyre, post->foreign);
#endif
#if GYRE_STAGE
    gyre->origin = post->origin;
    gyre->index = post->flow_index;
    gyre->entry = 0;
#if GYRE_LIMITED
    gyre->memory = post->memory;
    gyre->memory_size = post->memory_size;
    gyre->turn = post->turn;
#if GYRE_ASKS
    gyre->token = post->token;
#endif
#endif
#endif
}

/* Ends the block's share: one lane says why it failed. Called by all threads. */
GYRE_HELPER void gyre_grid_return_(const gyre_cuda_arguments &arguments, const gyre_context *gyre)
{
    const gyre_u32 first = gyre->shared->first_failed;
    if (first != 0xffffffffu && gyre->failed && gyre_failure_rank_(gyre) == first) {
        volatile gyre_grid_failure_ *failure = gyre_grid_failure_of_(arguments, blockIdx.x);
        failure->code = gyre->fail_code;
        failure->text = gyre->fail_text;
        atomicOr(&gyre_grid_post_of_(arguments)->word, GYRE_GRID_FAILED_);
    }
    gyre_together_();
    if (gyre->lane == 0)
        gyre_grid_end_(arguments);
}

/* Handles what block 0 posts, until another order. Called by all threads of another block. */
template <class K>
GYRE_HELPER void gyre_grid_follow_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *cells, void *scratch, const void *buffers, gyre_context *gyre)
{
    const volatile gyre_grid_post_ *post = gyre_grid_post_of_(arguments);
#if GYRE_STAGE
    gyre_cuda_port ports[K::gyre_its_port_count_ + 1];
    for (gyre_u32 i = 0; i <= K::gyre_its_port_count_; i++)
        ports[i] = {0, 0, 0, 0, 0, 0};
    gyre->ports = ports;
#endif
    while (gyre_grid_listen_(arguments, view, gyre->shared)) {
        gyre_chunk *cell = cells + post->slot * gyre_stage_<K>::cell;
        if (gyre->lane == 0) {
            gyre_turn_begins_(gyre_turn_(arguments, 0));
            gyre_grid_failure_of_(arguments, blockIdx.x)->text = 0;
        }
        gyre_grid_adopt_(post, gyre);
        gyre_grid_begin_(gyre, post->index);
        gyre_grid_call_<K>((const gyre_slot *)cell, (gyre_slot *)(cell + gyre_stage_<K>::request_chunks),
                           arguments.state, scratch, buffers, gyre);
        if (gyre->lane == 0)
            gyre_turn_ends_(gyre_turn_(arguments, 0));
        gyre_grid_return_(arguments, gyre);
    }
}

/* ---- the loop ---- */

/* Makes the context of a lane of a grid kernel. Called before the block takes up its first order. */
GYRE_HELPER void gyre_grid_open_(const gyre_cuda_arguments &arguments, gyre_context *gyre, gyre_shape *shape)
{
    gyre->in_block = GYRE_IN_GRID_;
    shape->is |= GYRE_SHAPE_GRID_;
    if (gridDim.x == 1)
        return;
    shape->is &= ~GYRE_SHAPE_SHARED_;
    gyre->grid = &gyre_grid_post_of_(arguments)->word;
    if (gyre->lane == 0) /* block 0 posts nothing before all blocks are there */
        gyre->shared->grid_serial = gyre_near_load_(&gyre_grid_post_of_(arguments)->serial);
}

#if !GYRE_STAGE
/* As gyre_handle_block_, by all blocks. Called by all threads of block 0. */
template <class K>
GYRE_HELPER gyre_u32 gyre_grid_handle_(const gyre_cuda_arguments &arguments, gyre_chunk *cells, gyre_u32 slot,
                                       const gyre_worker *worker, void *scratch, const void *buffers,
                                       gyre_context *gyre)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 index = worker->first + slot;
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, index, worker->drop_before, gyre->lane == 0)) {
        gyre_grid_begin_(gyre, index);
        GYRE_STAMP_BEGIN_(gyre, index, started);
        if (gyre_seal_holds_(gyre, index, in + 1, in->length))
            failed =
                gyre_grid_run_<K>(arguments, cells, slot, index, arguments.state, scratch, buffers, gyre);
        else
            failed = gyre_block_end_(gyre, out, GYRE_FAILED, 0);
        if (gyre->lane == 0) {
            GYRE_STAMP_END_(gyre, index, started);
            if (!failed) /* otherwise another lane may be writing it */
                gyre_seal_reply_(gyre, index, out->info, out + 1, out->length);
        }
    }
    if (gyre->lane != 0)
        return 0;
    out->sequence = index + 1;
    return failed;
}

template <class K>
GYRE_HELPER void gyre_grid_lead_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                 gyre_chunk *cells, void *scratch, const void *buffers, gyre_context *gyre)
{
    gyre_worker *worker = &view->workers[0];
    while (gyre_next_run_(arguments, view, cells, blockDim.x)) {
        GYRE_QUEUE_BEGIN_(gyre, &view->served[worker->which]);
        gyre_u32 slot = 0;
        do {
            if (gyre_grid_handle_<K>(arguments, cells, slot, worker, scratch, buffers, gyre))
                atomicAdd(&view->failed, 1ull);
            gyre_together_(); /* as in gyre_handle_in_turn_ */
        } while (++slot < worker->count);
        gyre_end_run_(arguments, view, blockDim.x, 0);
    }
}

template <class K>
GYRE_HELPER void gyre_grid_reside_(const gyre_cuda_arguments &arguments, const void *buffers)
{
    extern __shared__ gyre_chunk gyre_dynamic_memory_[];
    __shared__ gyre_block_view view;
    gyre_context gyre;
    gyre_u32 seat;
    gyre_shape shape = gyre_shape_of_<K>();
    gyre_chunk *const cells = (gyre_chunk *)arguments.stage; /* block 0's */
    gyre_context_make_(&gyre, arguments, gyre_lanes_share_<K>());
    gyre_grid_open_(arguments, &gyre, &shape);
    gyre_arrive_(arguments, &view, shape, 0);
    while ((seat = gyre_next_order_(arguments, &view)) != 0) {
        if (gridDim.x == 1)
            gyre_serve_staged_<K>(arguments, &view, gyre_dynamic_memory_, seat, arguments.state, buffers,
                                  &gyre);
        else if (blockIdx.x == 0)
            gyre_grid_lead_<K>(arguments, &view, cells, gyre_dynamic_memory_, buffers, &gyre);
        else
            gyre_grid_follow_<K>(arguments, &view, cells, gyre_dynamic_memory_, buffers, &gyre);
    }
}
#endif

#define gyre_grid_barrier(gyre)   gyre_grid_meet_((gyre), GYRE_PLACE_)
#define GYRE_GRID_CLEARED_(gyre_) gyre_grid_meet_((gyre_), 0)

#else
#define gyre_grid_barrier(gyre)                                                                              \
    ((void)gyre_fail_((gyre), GYRE_FAILURE_BARRIER, "grid barriers are for grid kernels"))
#define GYRE_GRID_CLEARED_(gyre_) ((void)0)
#endif

#endif
