/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a block between two orders: it puts away the words of the queues that it served, obeys the order
 * (cuda_control.h), and lays out its stage for the queues that it serves next. A part (see cuda_resident.h): no
 * function here runs once a message. Included by cuda_resident.h.
 */
#ifndef GYRE_DIALECT_CUDA_ORDER_H
#define GYRE_DIALECT_CUDA_ORDER_H

/* ---- the stage ---- */

/*
 * Threads of a worker when the queues store messages back to back. Blocks that share such a queue take many messages
 * at once, each block as one worker. Small takes would cost the time from claim to claim, a journey to the device's
 * memory and back whatever the number of messages.
 */
#ifndef GYRE_BRIDGE_WORKER_SIZE
#define GYRE_BRIDGE_WORKER_SIZE 256
#endif
GYRE_HELPER gyre_u32 gyre_worker_threads_(const gyre_block_view *view, gyre_u32 bridged)
{
    if (!(view->shape.is & GYRE_SHAPE_WORKERS_))
        return blockDim.x;
    if (bridged && view->team_size > 1)
        return blockDim.x > GYRE_BRIDGE_WORKER_SIZE ? GYRE_BRIDGE_WORKER_SIZE : blockDim.x;
    return GYRE_CUDA_WORKER(blockDim.x);
}

/* Whether all queues of the block store their requests back to back. */
GYRE_HELPER gyre_u32 gyre_all_bridged_(const gyre_block_view *view)
{
    gyre_u32 all = GYRE_BRIDGED_REQUESTS_;
#pragma unroll 1
    for (gyre_u32 i = 0; i < view->queue_count; i++)
        all &= view->served[i].kind;
    return all;
}

/* Chooses how many messages a worker takes at once: no more than fit into its share of `size` bytes. */
GYRE_HELPER void gyre_windows_sized_(gyre_block_view *view, gyre_u32 size)
{
    const gyre_u32 is = view->shape.is, adapts = is & (GYRE_SHAPE_FEW_ | GYRE_SHAPE_ACTOR_);
    const gyre_u32 block_most = is & GYRE_SHAPE_SHARED_ ? GYRE_BLOCK_WINDOW : 1;
    const gyre_u32 wanted = is & GYRE_SHAPE_BLOCK_   ? block_most
                            : is & GYRE_SHAPE_ACTOR_ ? GYRE_ACTOR_MOST
                                                     : view->stage.threads;
    const gyre_u32 fits = size / (blockDim.x / view->stage.threads) / 16 / view->stage.cell;
    const gyre_u32 most = wanted < fits ? wanted : fits;
    const gyre_u32 few = is & GYRE_SHAPE_FEW_ ? 1 : GYRE_ACTOR_WINDOW, least = few < most ? few : most;
    view->stage.window = adapts ? least : most;
    view->stage.least = least;
    view->stage.most = adapts ? most : 0;
#pragma unroll 1
    for (gyre_u32 i = 0; i < GYRE_CUDA_WORKERS_MAX; i++)
        view->workers[i].which = view->workers[i].wide = view->workers[i].kept_phase = 0;
}

/* Lays out the stage for the queues that the block is about to serve. Called by one thread. */
GYRE_HELPER void gyre_stage_make_(gyre_block_view *view)
{
    const gyre_shape *shape = &view->shape;
    const gyre_u32 bridged = gyre_all_bridged_(view);
    view->stage.threads = gyre_worker_threads_(view, bridged);
    view->stage.request_chunks = shape->request_chunks;
    view->stage.reply_chunks = shape->reply_chunks;
    view->stage.request_reciprocal = gyre_reciprocal_(shape->request_chunks);
    view->stage.reply_reciprocal = gyre_reciprocal_(shape->reply_chunks);
    view->stage.cell = (shape->request_chunks + shape->reply_chunks) | 1;
    view->stage.in_shared = shape->is & GYRE_SHAPE_SHARED_;
    view->stage.dense = !bridged && shape->is & GYRE_SHAPE_DENSE_;
    view->go = 0;
    gyre_windows_sized_(view, shape->is & GYRE_SHAPE_SHARED_
                                  ? gyre_dynamic_size_() - 16 * shape->scratch_chunks
                                  : GYRE_CUDA_STAGE_SIZE);
}

/* ---- the next order ---- */

/*
 * Copies an actor's state. While an actor serves its queues nobody else looks at its state; the host reads it after
 * the kernel was told to leave. So a small state is in shared memory meanwhile. It is back where it belongs before the
 * block obeys the order that stopped it. Called by all threads; the copy is there once they have met.
 */
GYRE_HELPER void gyre_copy_state_(void *to, const void *from, gyre_u32 size)
{
#pragma unroll 1
    for (gyre_u32 i = threadIdx.x; i < size; i += blockDim.x)
        ((gyre_u8 *)to)[i] = ((const gyre_u8 *)from)[i];
}

GYRE_PART_ gyre_u32 gyre_next_order_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    GYRE_IN_SHARED_(view);
    __syncthreads(); /* all threads have left the last run */
    if (view->staged)
        gyre_copy_state_(arguments.state, view->near_state, view->shape.state_bytes);
    if (!gyre_await_run_(arguments, view))
        return 0;
    const gyre_u32 staged = !(view->shape.is & GYRE_SHAPE_LINES_) || view->team_size > 1;
    if (threadIdx.x == 0 && staged)
        gyre_stage_make_(view);
    if (threadIdx.x == 0)
        view->staged = staged;
    if (!staged)
        return GYRE_SEAT_LINES_;
    gyre_copy_state_(view->near_state, arguments.state, view->shape.state_bytes);
    __syncthreads();
    return GYRE_SEAT_(gyre_worker_of_(view->stage.threads), gyre_thread_of_(view->stage.threads));
}

#endif
