/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How messages get to a block and back, when they do not go the way of cuda_lines.h. A part
 * (cuda_resident.h), so sizes are values here: each function runs once a window. Included by cuda_resident.h.
 *
 * A window of requests is copied into the stage, which is shared memory (device memory, when one message is
 * too large for it), with coalesced 16-byte loads, and replies are copied back: payload, one fence for the
 * window, then the headers. A completion that fits a line goes as a whole line and needs no fence.
 */
#ifndef GYRE_DIALECT_CUDA_MOVE_H
#define GYRE_DIALECT_CUDA_MOVE_H

#define GYRE_STAGE_LOADS_ 4 /* 16-byte loads in flight of each thread */

/*
 * The message that chunk `chunk` of a window belongs to, chunk / each: by the high half of a product, which
 * is right for windows, since they have fewer than 2^16 chunks, and messages too.
 */
GYRE_HELPER gyre_u32 gyre_message_of_(gyre_u32 chunk, gyre_u32 reciprocal)
{
    return reciprocal ? __umulhi(chunk, reciprocal) : chunk;
}

GYRE_HELPER gyre_u32 gyre_reciprocal_(gyre_u32 each)
{
    return each > 1 ? 0xffffffffu / each + 1 : 0;
}

/* Requests into the stage, a few loads in flight in each thread. */
GYRE_HELPER void gyre_fetch_(const gyre_stage_place *stage, const gyre_served *queue, gyre_u64 first,
                             gyre_u32 count)
{
    const gyre_u32 each = stage->request_chunks, all = count * each, threads = blockDim.x;
    const gyre_u32 reciprocal = gyre_reciprocal_(each);
#pragma unroll 1
    for (gyre_u32 start = threadIdx.x; start < all; start += threads * GYRE_STAGE_LOADS_) {
        gyre_chunk mine[GYRE_STAGE_LOADS_];
#pragma unroll
        for (int j = 0; j < GYRE_STAGE_LOADS_; j++) {
            const gyre_u32 chunk = start + j * threads, slot = gyre_message_of_(chunk, reciprocal);
            if (chunk < all)
                mine[j] = gyre_chunk_load_((const gyre_chunk *)gyre_request_at_(queue, first + slot) +
                                           (chunk - slot * each));
        }
#pragma unroll
        for (int j = 0; j < GYRE_STAGE_LOADS_; j++)
            if (start + j * threads < all)
                stage->requests[start + j * threads] = mine[j];
    }
}

/* Payloads first; all threads meet; then the headers, whose first word is the sequence. */
GYRE_HELPER void gyre_deliver_parted_(const gyre_stage_place *stage, const gyre_served *queue, gyre_u64 first,
                                      gyre_u32 count)
{
    const gyre_u32 each = stage->reply_chunks, all = count * each, threads = blockDim.x;
    const gyre_u32 reciprocal = gyre_reciprocal_(each);
    for (gyre_u32 chunk = threadIdx.x; chunk < all; chunk += threads) {
        const gyre_u32 slot = gyre_message_of_(chunk, reciprocal), part = chunk - slot * each;
        if (part)
            gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, first + slot) + part,
                              stage->replies[chunk]);
    }
    __syncthreads();
#pragma unroll 1
    for (gyre_u32 slot = threadIdx.x; slot < count; slot += threads) {
        gyre_fence_system_(); /* the payloads of all threads, met at the barrier, before the sequence */
        gyre_chunk_store_(gyre_reply_at_(queue, first + slot), stage->replies[slot * each]);
    }
}

/* Completions out of the stage. All threads, which met before. */
GYRE_HELPER void gyre_deliver_(const gyre_stage_place *stage, const gyre_served *queue, gyre_u64 first,
                               gyre_u32 count)
{
    if (stage->reply_chunks != 4 || blockDim.x < 4) {
        gyre_deliver_parted_(stage, queue, first, count);
        return;
    }
    for (gyre_u32 chunk = threadIdx.x; chunk < 4 * count; chunk += blockDim.x) /* four store a line */
        gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, first + chunk / 4) + chunk % 4,
                          stage->replies[chunk]);
}

GYRE_HELPER gyre_u32 gyre_dynamic_size_()
{
    gyre_u32 size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return size;
}

/* Shared memory behind the block's scratch when at least one message fits, else the block's part of the
 * stage. */
GYRE_PART_ void gyre_stage_make_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                 gyre_chunk *memory, gyre_u32 scratch_chunks, gyre_u32 wanted,
                                 gyre_u32 request_chunks, gyre_u32 reply_chunks)
{
    const gyre_u32 each = request_chunks + reply_chunks;
    const gyre_u32 room = (gyre_dynamic_size_() / 16 - scratch_chunks) / each;
    const gyre_u32 fits = room ? room : GYRE_CUDA_STAGE_SIZE / 16 / each;
    gyre_stage_place *stage = &view->stage;
    if (threadIdx.x > 0)
        return;
    stage->requests = room ? memory + scratch_chunks
                           : (gyre_chunk *)(arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE);
    stage->window = wanted < fits ? wanted : fits;
    stage->replies = stage->requests + stage->window * request_chunks;
    stage->request_chunks = request_chunks;
    stage->reply_chunks = reply_chunks;
    view->eager = view->which = 0;
}

GYRE_PART_ int gyre_next_window_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    __syncthreads();
    const gyre_u32 most = view->stage.window;
    do {
        if (!gyre_find_requests_(arguments, view, most))
            return 0;
    } while (view->count == 0);
    gyre_fetch_(&view->stage, &view->served[view->go - 1], view->claimed, view->count);
    __syncthreads();
    return 1;
}

GYRE_PART_ void gyre_end_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                 gyre_u32 failed)
{
    gyre_served *queue = &view->served[view->go - 1];
    if (failed)
        atomicAdd(&view->failed, (gyre_u64)failed);
    __syncthreads();
    const gyre_u32 count = view->count;
    const gyre_u64 first = view->claimed;
    gyre_deliver_(&view->stage, queue, first, count);
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    queue->next = first + count;
    view->handled += count;
    gyre_count_served_(arguments, view);
}

#endif
