/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages beyond one line, actors, block kernels, and queues that several blocks share. Included by
 * cuda_resident.h.
 *
 * A window of requests is copied into device memory with coalesced 16-byte loads, handled there, and the
 * replies are copied back: payload, one fence for the window, then the headers. A completion that fits a line
 * goes as a whole line and needs no fence.
 */
#ifndef GYRE_DIALECT_CUDA_STAGE_H
#define GYRE_DIALECT_CUDA_STAGE_H

#define GYRE_STAGE_LOADS_ 4  /* 16-byte loads in flight of each thread */
#define GYRE_ACTOR_WINDOW 32 /* messages of an actor that are fetched together */

/** What window sizes follow from a kernel's types. */
template <class K> struct gyre_stage_ {
    enum {
        request_chunks = (GYRE_SLOT_HEADER_SIZE + K::request_size + 15) / 16,
        reply_payload = K::reply_size > GYRE_SLOT_SMALL_PAYLOAD ? K::reply_size : GYRE_SLOT_SMALL_PAYLOAD,
        reply_chunks = (GYRE_SLOT_HEADER_SIZE + reply_payload + 15) / 16,
        fits = GYRE_CUDA_STAGE_SIZE / 16 / (request_chunks + reply_chunks)
    };
};

/* The most messages that a block takes at once. */
template <class K> GYRE_HELPER gyre_u32 gyre_window_max_()
{
    const gyre_u32 wanted = K::form == 2 ? 1 : K::form == 3 ? GYRE_ACTOR_WINDOW : blockDim.x;
    return wanted < gyre_stage_<K>::fits ? wanted : gyre_stage_<K>::fits;
}

/* ---- finding work ---- */

/* The lanes of the first warp: a block kernel may have fewer than 32. */
GYRE_HELPER gyre_u32 gyre_first_warp_()
{
    return blockDim.x < 32 ? (1u << blockDim.x) - 1 : 0xffffffffu;
}

/* How many requests from `first` on are there, up to `most` and a warp's worth. By one warp. */
GYRE_HELPER gyre_u32 gyre_look_(const gyre_served *queue, gyre_u64 first, gyre_u32 most)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u64 sequence = 0;
    if (lane < most)
        sequence = gyre_word_load_(&gyre_request_at_(queue, first + lane)->sequence);
    const gyre_u32 missing = ~__ballot_sync(gyre_first_warp_(), lane < most && sequence == first + lane + 1);
    return missing ? (gyre_u32)__ffs((int)missing) - 1 : 32;
}

/* As many requests as a window holds, in steps of a warp. */
GYRE_HELPER gyre_u32 gyre_look_far_(const gyre_served *queue, gyre_u64 first, gyre_u32 most)
{
    gyre_u32 found = 0, step = 32;
    while (found < most && step == 32) {
        const gyre_u32 rest = most - found < 32 ? most - found : 32;
        step = gyre_look_(queue, first + found, rest);
        found += step;
    }
    return found;
}

/* This block serves the queue alone: a first look at one slot, then as far as there is a backlog. */
GYRE_HELPER gyre_u32 gyre_find_alone_(gyre_served *queue, gyre_u32 most, gyre_u32 *eager)
{
    const gyre_u32 found =
        *eager ? gyre_look_far_(queue, queue->next, most) : gyre_look_(queue, queue->next, 1);
    *eager = found > 0;
    return found;
}

GYRE_HELPER gyre_u64 gyre_device_load_(const gyre_u64 *from)
{
    gyre_u64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0,[%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

/*
 * Several blocks share the queue: takes a share of what was seen to be there. When there is nothing left, one
 * of the idle blocks (whoever holds cursor->poller) looks across the bus and raises `ready` for all. By one
 * warp.
 */
GYRE_HELPER gyre_u32 gyre_find_together_(gyre_cuda_cursor *cursor, const gyre_served *queue, gyre_u32 most,
                                         gyre_u32 team_size, gyre_u64 *first)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u64 next = 0, ready = 0;
    gyre_u32 taken = 0, polls = 0;
    if (lane == 0) {
        next = gyre_device_load_(&cursor->next);
        ready = gyre_device_load_(&cursor->ready);
        if (next < ready) {
            gyre_u64 share = (ready - next + team_size - 1) / team_size;
            share = share < most ? share : most;
            if (atomicCAS(&cursor->next, next, next + share) == next)
                taken = (gyre_u32)share;
        } else {
            polls = atomicCAS(&cursor->poller, 0u, 1u) == 0;
        }
    }
    taken = __shfl_sync(gyre_first_warp_(), taken, 0);
    *first = __shfl_sync(gyre_first_warp_(), next, 0);
    if (__shfl_sync(gyre_first_warp_(), polls, 0)) {
        ready = gyre_device_load_(&cursor->ready); /* nobody else raises it while this block polls */
        const gyre_u32 found = gyre_look_(queue, ready, 32);
        if (lane == 0) {
            if (found) {
                __threadfence();
                atomicExch(&cursor->ready, ready + found);
            }
            __threadfence();
            atomicExch(&cursor->poller, 0u);
        }
    }
    return taken;
}

/* Warp 0 looks at the queues in turn until there is work or another order; leaves queue, index and count in
 * the view. */
template <class K>
GYRE_HELPER void gyre_find_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_u32 *which, gyre_u32 *eager)
{
    const gyre_u32 most = gyre_window_max_<K>(), lane = threadIdx.x & 31;
    gyre_u32 found = 0, polls = 0, changed = 0;
    gyre_u64 first = 0;
    while (!found && !changed) {
        gyre_served *queue = &view->served[*which];
        if (view->team_size > 1) {
            found =
                gyre_find_together_(&arguments.cursors[queue->entry], queue, most, view->team_size, &first);
        } else {
            first = queue->next;
            found = gyre_find_alone_(queue, most, eager);
        }
        if (found)
            break;
        *which = *which + 1 < view->queue_count ? *which + 1 : 0;
        if (++polls % 16 == 0)
            changed = __shfl_sync(gyre_first_warp_(), lane == 0 && gyre_order_changed_(arguments, view), 0);
        gyre_rest_(arguments.pause_ns);
    }
    if (lane == 0) {
        view->go = found ? *which + 1 : GYRE_GO_ORDER;
        view->count = found;
        view->claimed = first;
    }
}

/* ---- moving messages ---- */

/* Requests into the stage, a few loads in flight in each thread. */
template <class K>
GYRE_HELPER void gyre_fetch_(gyre_chunk *stage, const gyre_served *queue, gyre_u64 first, gyre_u32 count)
{
    const gyre_u32 each = gyre_stage_<K>::request_chunks, all = count * each, threads = blockDim.x;
    for (gyre_u32 start = threadIdx.x; start < all; start += threads * GYRE_STAGE_LOADS_) {
        gyre_chunk mine[GYRE_STAGE_LOADS_];
#pragma unroll
        for (int j = 0; j < GYRE_STAGE_LOADS_; j++) {
            const gyre_u32 chunk = start + j * threads;
            if (chunk < all)
                mine[j] = gyre_chunk_load_((const gyre_chunk *)gyre_request_at_(queue, first + chunk / each) +
                                           chunk % each);
        }
#pragma unroll
        for (int j = 0; j < GYRE_STAGE_LOADS_; j++)
            if (start + j * threads < all)
                stage[start + j * threads] = mine[j];
    }
}

/* Completions out of the stage. The header's first word becomes the sequence. All threads, which met before.
 */
template <class K>
GYRE_HELPER void gyre_deliver_(gyre_chunk *stage, const gyre_served *queue, gyre_u64 first, gyre_u32 count)
{
    constexpr gyre_u32 each = gyre_stage_<K>::reply_chunks;
    const gyre_u32 all = count * each, threads = blockDim.x;
    if constexpr (each == 4) {
        for (gyre_u32 chunk = threadIdx.x; chunk < all; chunk += threads)
            gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, first + chunk / 4) + chunk % 4,
                              stage[chunk]);
    } else {
        for (gyre_u32 chunk = threadIdx.x; chunk < all; chunk += threads)
            if (chunk % each)
                gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, first + chunk / each) + chunk % each,
                                  stage[chunk]);
        __syncthreads();
        for (gyre_u32 slot = threadIdx.x; slot < count; slot += threads) {
            gyre_fence_system_(); /* the payloads of all threads, met at the barrier, before the sequence */
            gyre_chunk_store_(gyre_reply_at_(queue, first + slot), stage[slot * each]);
        }
    }
}

/* ---- handling ---- */

/* A request that does not get to the handler. Returns 1 when it is settled that way. */
template <class K>
GYRE_HELPER gyre_u32 gyre_settle_(const gyre_slot *in, gyre_slot *out, gyre_u64 index, gyre_u64 drop_before,
                                  int writes)
{
    const int dropped = index < drop_before, wrong = in->length != K::request_size;
    if (writes && dropped) {
        out->length = 0;
        out->info = GYRE_OUTCOME_DROPPED;
    } else if (writes && wrong) {
        gyre_write_failure_(out, GYRE_FAILURE_LENGTH, "the request has not the size of its type");
    }
    return dropped || wrong;
}

/* One message by one thread. Returns 1 when the handler failed it. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_staged_(gyre_chunk *requests, gyre_chunk *replies, gyre_u32 slot,
                                         gyre_u64 index, gyre_u64 drop_before, void *state,
                                         const void *buffers, gyre_context *gyre)
{
    const gyre_slot *in = (const gyre_slot *)(requests + slot * gyre_stage_<K>::request_chunks);
    gyre_slot *out = (gyre_slot *)(replies + slot * gyre_stage_<K>::reply_chunks);
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, index, drop_before, 1)) {
        gyre->failed = 0;
        const int result = K::handle(in + 1, out + 1, state, 0, buffers, gyre);
        failed = gyre_lane_end_(gyre, out, result, K::reply_size);
    }
    out->sequence = index + 1;
    return failed;
}

/* One message by all threads. Returns, in thread 0, whether it failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_block_(gyre_chunk *requests, gyre_chunk *replies, gyre_u64 index,
                                        gyre_u64 drop_before, void *state, void *scratch, const void *buffers,
                                        gyre_context *gyre)
{
    const gyre_slot *in = (const gyre_slot *)requests;
    gyre_slot *out = (gyre_slot *)replies;
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, index, drop_before, gyre->lane == 0)) {
        gyre_block_begin_(gyre);
        __syncthreads();
        const int result = K::handle(in + 1, out + 1, state, scratch, buffers, gyre);
        failed = gyre_block_end_(gyre, out, result, K::reply_size);
    }
    if (gyre->lane != 0)
        return 0;
    out->sequence = index + 1;
    return failed;
}

template <class K>
GYRE_HELPER void gyre_serve_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    gyre_served *queue = &view->served[view->go - 1];
    const gyre_u64 first = view->claimed;
    const gyre_u32 count = view->count;
    gyre_chunk *requests = (gyre_chunk *)(arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE);
    gyre_chunk *replies = requests + gyre_window_max_<K>() * gyre_stage_<K>::request_chunks;
    gyre_u32 failed = 0;
    if (threadIdx.x == 0)
        view->drop_before = gyre_word_load_(queue->drop_before);
    gyre_fetch_<K>(requests, queue, first, count);
    __syncthreads();
    if (K::form == 2) {
        failed = gyre_handle_block_<K>(requests, replies, first, view->drop_before, arguments.state, memory,
                                       buffers, gyre);
    } else if (K::form == 3) {
        for (gyre_u32 slot = 0; threadIdx.x == 0 && slot < count; slot++)
            failed += gyre_handle_staged_<K>(requests, replies, slot, first + slot, view->drop_before,
                                             arguments.state, buffers, gyre);
    } else if (threadIdx.x < count) {
        failed = gyre_handle_staged_<K>(requests, replies, threadIdx.x, first + threadIdx.x,
                                        view->drop_before, arguments.state, buffers, gyre);
    }
    if (failed)
        atomicAdd(&view->failed, (gyre_u64)failed);
    __syncthreads();
    gyre_deliver_<K>(replies, queue, first, count);
    __syncthreads();
    if (threadIdx.x == 0) {
        queue->next = first + count;
        view->handled += count;
        gyre_count_served_(arguments, view);
    }
}

template <class K>
GYRE_HELPER void gyre_serve_staged_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    gyre_u32 which = 0, eager = 0;
    for (;;) {
        __syncthreads();
        if (threadIdx.x < 32)
            gyre_find_window_<K>(arguments, view, &which, &eager);
        __syncthreads();
        if (view->go == GYRE_GO_ORDER)
            return;
        gyre_serve_window_<K>(arguments, view, memory, buffers, gyre);
    }
}

template <class K>
GYRE_HELPER void gyre_serve_lanes_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *memory, const void *buffers)
{
    constexpr int lines = K::form == 1 && K::request_size <= GYRE_SLOT_SMALL_PAYLOAD &&
                          K::reply_size <= GYRE_SLOT_SMALL_PAYLOAD;
    if constexpr (lines) {
        if (view->team_size == 1) {
            gyre_serve_lines_<K>(arguments, view, memory, buffers);
            return;
        }
    }
    gyre_context gyre;
    gyre_context_make_(&gyre, arguments, 0);
    if (K::form == 3)
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
