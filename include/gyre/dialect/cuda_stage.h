/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages beyond one line, actors, block kernels, and queues that several blocks share. Included by
 * cuda_resident.h.
 *
 * A window of requests is copied into shared memory (device memory, when one message is too large for it)
 * with coalesced 16-byte loads, handled there, and the replies are copied back: payload, one fence for the
 * window, then the headers. A completion that fits a line goes as a whole line and needs no fence.
 */
#ifndef GYRE_DIALECT_CUDA_STAGE_H
#define GYRE_DIALECT_CUDA_STAGE_H

#define GYRE_STAGE_LOADS_  4 /* 16-byte loads in flight of each thread */
#define GYRE_ACTOR_LOOK_NS 100000

/** What window sizes follow from a kernel's types. */
template <class K> struct gyre_stage_ {
    enum {
        request_chunks = (GYRE_SLOT_HEADER_SIZE + K::request_size + 15) / 16,
        reply_payload = K::reply_size > GYRE_SLOT_SMALL_PAYLOAD ? K::reply_size : GYRE_SLOT_SMALL_PAYLOAD,
        reply_chunks = (GYRE_SLOT_HEADER_SIZE + reply_payload + 15) / 16
    };
};

/* Where a block keeps the messages that it works on, and how many fit. */
struct gyre_stage_place_ {
    gyre_chunk *requests, *replies;
    gyre_u32 window;
};

GYRE_HELPER gyre_u32 gyre_dynamic_size_()
{
    gyre_u32 size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return size;
}

/* Shared memory behind the block's scratch when at least one message fits, else the block's part of the
 * stage. */
template <class K>
GYRE_HELPER gyre_stage_place_ gyre_stage_find_(const gyre_resident_arguments &arguments, gyre_chunk *memory)
{
    constexpr gyre_u32 scratch_chunks = K::form == 2 ? (K::scratch_size + 15) / 16 : 0;
    constexpr gyre_u32 each = gyre_stage_<K>::request_chunks + gyre_stage_<K>::reply_chunks;
    const gyre_u32 room = (gyre_dynamic_size_() / 16 - scratch_chunks) / each;
    const gyre_u32 wanted = K::form == 2 ? 1 : K::form == 3 ? GYRE_ACTOR_WINDOW : blockDim.x;
    gyre_stage_place_ place;
    place.requests = room ? memory + scratch_chunks
                          : (gyre_chunk *)(arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE);
    const gyre_u32 fits = room ? room : GYRE_CUDA_STAGE_SIZE / 16 / each;
    place.window = wanted < fits ? wanted : fits;
    place.replies = place.requests + place.window * gyre_stage_<K>::request_chunks;
    return place;
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

/*
 * Warp 0 looks at the queues in turn until there is work or another order; leaves queue, index and count in
 * the view. A queue of this block alone that had something at the first look has a backlog: the next windows
 * are widened. Its first lane has the order and the queue's `drop_before` under way while the look is.
 */
GYRE_HELPER void gyre_find_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_u32 most, gyre_u32 *which)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u32 found = 0, polls = 0, changed = 0;
    gyre_u64 first = 0, drop_before = 0;
    while (!found && !changed) {
        gyre_served *queue = &view->served[*which];
        const gyre_u32 asks = lane == 0 && polls % 16 == 0;
        gyre_u64 order = view->order;
        if (asks)
            order = gyre_word_load_(&arguments.orders->order);
        if (lane == 0)
            drop_before = gyre_word_load_(queue->drop_before);
        if (view->team_size > 1) { /* a share that was taken has to be served, so the order comes first */
            changed = __shfl_sync(gyre_first_warp_(), order != view->order, 0);
            if (!changed)
                found = gyre_find_together_(&arguments.cursors[queue->entry], queue, most, view->team_size,
                                            &first);
        } else {
            first = queue->next;
            found = gyre_look_(queue, first, 1);
            changed = __shfl_sync(gyre_first_warp_(), order != view->order, 0);
        }
        if (found)
            break;
        *which = *which + 1 < view->queue_count ? *which + 1 : 0;
        polls++;
        gyre_rest_(arguments.pause_ns);
    }
    if (changed)
        found = 0; /* what was seen stays where it is */
    if (lane == 0) {
        view->go = found ? *which + 1 : GYRE_GO_ORDER;
        view->count = found;
        view->claimed = first;
        view->drop_before = drop_before;
        view->eager = view->team_size == 1 && polls == 0;
    }
}

/* All threads look at a slot each: how many requests from the queue's position on are there. */
GYRE_HELPER void gyre_widen_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_u32 most)
{
    const gyre_served *queue = &view->served[view->go - 1];
    const gyre_u64 first = queue->next;
    gyre_u64 order = 0, drop_before = 0;
    if (threadIdx.x == 0)
        view->first_bad = most;
    __syncthreads();
    if (threadIdx.x == 0) {
        order = gyre_word_load_(&arguments.orders->order);
        drop_before = gyre_word_load_(queue->drop_before);
    }
    for (gyre_u32 slot = threadIdx.x; slot < most; slot += blockDim.x)
        if (gyre_word_load_(&gyre_request_at_(queue, first + slot)->sequence) != first + slot + 1)
            atomicMin(&view->first_bad, slot);
    __syncthreads();
    if (threadIdx.x == 0) {
        view->claimed = first;
        view->count = order == view->order ? view->first_bad : 0;
        view->drop_before = drop_before;
        view->eager = view->count > 1;
    }
    __syncthreads();
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
    if (each == 4 && threads >= 4) { /* four neighbours store a line together */
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

/*
 * An actor's messages, one after the other, by one thread. It looks for another order between messages, but
 * not more often than every GYRE_ACTOR_LOOK_NS, and then leaves the rest of the window for later. Returns how
 * many it handled.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_actor_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                        const gyre_stage_place_ &place, const void *buffers,
                                        gyre_context *gyre)
{
    gyre_u64 looked = gyre_time_ns(gyre);
    for (gyre_u32 slot = 0; slot < view->count; slot++) {
        view->failed += gyre_handle_staged_<K>(place.requests, place.replies, slot, view->claimed + slot,
                                               view->drop_before, arguments.state, buffers, gyre);
        const gyre_u64 now = gyre_time_ns(gyre);
        if (now - looked < GYRE_ACTOR_LOOK_NS)
            continue;
        looked = now;
        if (gyre_order_changed_(arguments, view))
            return slot + 1;
    }
    return view->count;
}

template <class K>
GYRE_HELPER void gyre_serve_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_chunk *memory, const gyre_stage_place_ &place, const void *buffers,
                                    gyre_context *gyre)
{
    gyre_served *queue = &view->served[view->go - 1];
    const gyre_u64 first = view->claimed;
    gyre_u32 failed = 0;
    gyre_fetch_<K>(place.requests, queue, first, view->count);
    __syncthreads();
    if (K::form == 2) {
        failed = gyre_handle_block_<K>(place.requests, place.replies, first, view->drop_before,
                                       arguments.state, memory, buffers, gyre);
    } else if (K::form == 3) {
        if (threadIdx.x == 0)
            view->count = gyre_handle_actor_<K>(arguments, view, place, buffers, gyre);
    } else if (threadIdx.x < view->count) {
        failed = gyre_handle_staged_<K>(place.requests, place.replies, threadIdx.x, first + threadIdx.x,
                                        view->drop_before, arguments.state, buffers, gyre);
    }
    if (failed)
        atomicAdd(&view->failed, (gyre_u64)failed);
    __syncthreads();
    const gyre_u32 count = view->count;
    gyre_deliver_<K>(place.replies, queue, first, count);
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
    const gyre_stage_place_ place = gyre_stage_find_<K>(arguments, memory);
    gyre_u32 which = 0;
    if (threadIdx.x == 0)
        view->eager = 0;
    for (;;) {
        __syncthreads();
        const gyre_u32 eager = view->eager;
        __syncthreads();
        if (eager && place.window > 1) {
            gyre_widen_window_(arguments, view, place.window);
        } else {
            if (threadIdx.x < 32)
                gyre_find_window_(arguments, view, place.window, &which);
            __syncthreads();
            if (view->go == GYRE_GO_ORDER)
                return;
        }
        if (view->count > 0)
            gyre_serve_window_<K>(arguments, view, memory, place, buffers, gyre);
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
