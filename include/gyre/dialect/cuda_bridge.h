/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the messages of bridged queues (stored back to back; gyre_bridge in ring_layout.h) to a worker and back, on
 * CUDA devices. A part (see cuda_resident.h): each function runs once a run of messages. Each is a separate function,
 * so that other queues pay for none of it. Included by cuda_move.h.
 *
 * Slots are lines: they come and go as lines. The bytes of longer messages lie in the host's rings of bytes. They are
 * moved by their length, in chunks of 16 bytes, which neighbouring threads move together.
 */
#ifndef GYRE_DIALECT_CUDA_BRIDGE_H
#define GYRE_DIALECT_CUDA_BRIDGE_H

#define GYRE_BRIDGE_LANES 32 /* least number of lanes that move one message together */
#ifndef GYRE_BRIDGE_APART
#define GYRE_BRIDGE_APART 8 /* messages that each warp fetches at once */
#endif
/*
 * A message of more chunks than this is fetched by a bulk copy of its own, if messages in slots would be fetched by
 * bulk copies (gyre_comes_by_bulk_). One thread starts the copies one after the other.
 */
#ifndef GYRE_BRIDGE_BULK
#define GYRE_BRIDGE_BULK 130
#endif
#ifndef GYRE_BRIDGE_AHEAD
#define GYRE_BRIDGE_AHEAD 2048 /* no worker looks ahead while this many requests are known and not taken */
#endif

/*
 * Returns the bytes that a message takes in the ring of bytes, by its slot's header; 0 when the message lies in the
 * slot. `most` is the stage's room.
 */
GYRE_HELPER gyre_u32 gyre_bridge_size_(gyre_chunk header, gyre_u32 most)
{
    const gyre_u32 length = (gyre_u32)header.y;
    return length > GYRE_SLOT_SMALL_PAYLOAD && length <= most ? (gyre_u32)GYRE_BRIDGE_UNITS(length) : 0;
}

GYRE_HELPER gyre_u32 gyre_bridge_reply_size_(const gyre_block_view *view, gyre_chunk header)
{
    const gyre_u32 outcome = (gyre_u32)(header.y >> 32);
    return outcome == GYRE_OUTCOME_REPLY ? gyre_bridge_size_(header, (view->stage.reply_chunks - 1) * 16) : 0;
}

/* ---- requests ---- */

GYRE_HELPER gyre_u32 gyre_bridge_request_size_(const gyre_block_view *view, const gyre_chunk *cell)
{
    return gyre_bridge_size_(cell[0], (view->stage.request_chunks - 1) * 16);
}

/** Where the bytes of requests lie; cells[1] of a request that is longer than its slot gives the position. */
struct gyre_bridge_bytes_ {
    const gyre_u8 *first;
    gyre_u64 size;
};

GYRE_HELPER gyre_bridge_bytes_ gyre_bridge_requests_(const gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_control_queue *row = gyre_bridge_row_(view, &view->served[worker->which]);
    gyre_bridge_bytes_ bytes;
    bytes.first = gyre_bridge_place_(row, &row->bridge.request_offset);
    bytes.size = gyre_near_half_load_(&row->bridge.request_bytes);
    return bytes;
}

GYRE_HELPER const gyre_chunk *gyre_bridge_request_at_(gyre_bridge_bytes_ bytes, const gyre_chunk *cell)
{
    return (const gyre_chunk *)(bytes.first + GYRE_BRIDGE_AT(cell[1].x, bytes.size));
}

#if GYRE_MOVE_BULK_
/*
 * Fetches each message by one bulk copy, which one thread starts; the worker's barrier counts the bytes. Called by the
 * worker's first warp.
 */
GYRE_HELPER void gyre_bridge_fetch_bulk_(const gyre_block_view *view, gyre_worker *worker, gyre_chunk *cells)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = blockDim.x < 32 ? blockDim.x : 32;
    const gyre_u32 cell = view->stage.cell, count = worker->count, mask = gyre_first_warp_();
    const gyre_u32 barrier = gyre_shared_address_(&worker->barrier);
    const gyre_bridge_bytes_ bytes = gyre_bridge_requests_(view, worker);
    gyre_u32 all = 0;
#pragma unroll 1
    for (gyre_u32 slot = lane; slot < count; slot += lanes)
        all += gyre_bridge_request_size_(view, cells + slot * cell);
#pragma unroll
    for (gyre_u32 step = 16; step > 0; step /= 2) {
        const gyre_u32 other = __shfl_down_sync(mask, all, step);
        all += lane + step < lanes ? other : 0;
    }
    if (lane == 0) {
        worker->parity ^= 1;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(barrier), "r"(all)
                     : "memory");
    }
    __syncwarp(mask);
#pragma unroll 1
    for (gyre_u32 slot = lane; slot < count; slot += lanes) {
        gyre_chunk *at = cells + slot * cell;
        const gyre_u32 size = gyre_bridge_request_size_(view, at);
        const gyre_chunk *from = gyre_bridge_request_at_(bytes, at);
        if (size == 0)
            continue;
        /* orders the copy after the read of `from`, which lay where the copy goes */
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        gyre_bulk_copy_(worker, at + 1, (const gyre_slot *)from, size);
    }
}
#endif

/*
 * The threads that move one message: this thread is `lane` of `lanes`, for messages `group`, `group` + `groups`, ...
 */
struct gyre_bridge_group_ {
    gyre_u32 lane, lanes, group, groups;
};

/* Shares out a worker's `threads` threads to `count` messages: few large messages get all threads. */
GYRE_HELPER gyre_bridge_group_ gyre_bridge_group_of_(gyre_u32 threads, gyre_u32 count)
{
    const gyre_u32 thread = gyre_thread_of_(threads), share = threads / (count ? count : 1);
    gyre_bridge_group_ mine;
    mine.lanes = share > GYRE_BRIDGE_LANES     ? share
                 : threads < GYRE_BRIDGE_LANES ? threads
                                               : GYRE_BRIDGE_LANES;
    mine.groups = threads / mine.lanes;
    mine.group = thread / mine.lanes;
    mine.lane = thread % mine.lanes;
    return mine;
}

/* Fetches messages by warps: each warp fetches its messages by itself, several at once. */
GYRE_HELPER void gyre_bridge_fetch_warps_(const gyre_block_view *view, const gyre_worker *worker,
                                          gyre_chunk *cells, gyre_u32 threads)
{
    const gyre_u32 warps = threads / 32, lane = threadIdx.x & 31, count = worker->count;
    const gyre_bridge_bytes_ bytes = gyre_bridge_requests_(view, worker);
#pragma unroll 1
    for (gyre_u32 first = gyre_thread_of_(threads) / 32; first < count; first += warps * GYRE_BRIDGE_APART) {
        gyre_chunk mine[GYRE_BRIDGE_APART];
        const gyre_chunk *from[GYRE_BRIDGE_APART];
        gyre_u32 size[GYRE_BRIDGE_APART];
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_BRIDGE_APART; j++) {
            const gyre_u32 slot = first + j * warps;
            const gyre_chunk *cell = cells + slot * view->stage.cell;
            size[j] = slot < count ? gyre_bridge_request_size_(view, cell) : 0;
            if (size[j])
                from[j] = gyre_bridge_request_at_(bytes, cell);
            if (lane * 16 < size[j])
                mine[j] = gyre_chunk_load_(from[j] + lane);
        }
        __syncwarp(); /* all lanes have read where to load from; these words lie where the bytes go */
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_BRIDGE_APART; j++) {
            gyre_chunk *to = cells + (first + j * warps) * view->stage.cell + 1;
            if (lane * 16 < size[j])
                to[lane] = mine[j];
#pragma unroll 4
            for (gyre_u32 chunk = lane + 32; chunk * 16 < size[j]; chunk += 32)
                to[chunk] = gyre_chunk_load_(from[j] + chunk);
        }
    }
}

/* Copies chunks, by `lane` of `lanes`, with a few loads in flight in each lane. */
GYRE_HELPER void gyre_bridge_copy_(gyre_chunk *to, const gyre_chunk *from, gyre_u32 chunks, gyre_u32 lane,
                                   gyre_u32 lanes)
{
#pragma unroll 1
    for (gyre_u32 start = lane; start < chunks; start += lanes * GYRE_STAGE_LOADS_) {
        gyre_chunk mine[GYRE_STAGE_LOADS_];
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_STAGE_LOADS_; j++)
            if (start + j * lanes < chunks)
                mine[j] = gyre_chunk_load_(from + start + j * lanes);
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_STAGE_LOADS_; j++)
            if (start + j * lanes < chunks)
                to[start + j * lanes] = mine[j];
    }
}

/*
 * Fetches messages by loads. A message's cell says where the message's bytes are, and these bytes then overwrite that.
 * So the group meets between reading the place and storing the bytes.
 */
GYRE_HELPER void gyre_bridge_fetch_loads_(const gyre_block_view *view, const gyre_worker *worker,
                                          gyre_chunk *cells, gyre_u32 threads)
{
    const gyre_bridge_group_ mine = gyre_bridge_group_of_(threads, worker->count);
    const gyre_u32 count = worker->count, rounds = (count + mine.groups - 1) / mine.groups;
    const gyre_bridge_bytes_ bytes = gyre_bridge_requests_(view, worker);
    if (threads % 32 == 0 && count * 32 >= threads) {
        gyre_bridge_fetch_warps_(view, worker, cells, threads);
        return;
    }
#pragma unroll 1
    for (gyre_u32 round = 0; round < rounds; round++) {
        const gyre_u32 slot = round * mine.groups + mine.group,
                       there = slot < count && mine.group < mine.groups;
        gyre_chunk *cell = cells + (there ? slot : 0) * view->stage.cell;
        const gyre_u32 size = there ? gyre_bridge_request_size_(view, cell) : 0;
        const gyre_chunk *from = gyre_bridge_request_at_(bytes, cell);
        gyre_worker_meets_(threads);
        gyre_bridge_copy_(cell + 1, from, size / 16, mine.lane, mine.lanes);
    }
}

/* ---- looking ahead ---- */

/*
 * When room for replies runs short, asks which bytes the host has freed, before a claim has to wait for them. Called
 * by one thread.
 */
GYRE_HELPER void gyre_bridge_free_ahead_(gyre_block_view *view, gyre_u32 which, gyre_u64 index)
{
    const gyre_served *queue = &view->served[which];
    if (queue->kind & GYRE_BRIDGED_REPLIES_ && gyre_near_load_(&queue->claims->limit) < index)
        gyre_bridge_free_(view, which, gyre_word_load_(gyre_bridge_tail_(view, which)));
}

/*
 * Looks ahead as gyre_look_ahead_ does, but farther, because workers take many requests at once here. Called by one of
 * the worker's warps, while the others fetch.
 */
GYRE_APART_ void gyre_bridge_look_ahead_(gyre_block_view *view, const gyre_worker *worker)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31;
    const gyre_served *queue = &view->served[worker->which];
    gyre_cuda_claims *claims = queue->claims;
    gyre_u64 from = 0;
    gyre_u32 looks = 0;
    if (blockDim.x < 32) {
        gyre_look_ahead_(view, worker);
        return;
    }
    if (lane == 0 && (worker->wide || worker->count > GYRE_SEEK_NARROW)) {
        const gyre_u64 next = gyre_near_load_(&claims->next), ready = gyre_near_load_(&claims->ready);
        from = ready > next ? ready : next;
        looks = from - next < GYRE_BRIDGE_AHEAD && atomicCAS(&claims->pollers[0], 0u, 1u) == 0;
    }
    if (!__shfl_sync(mask, looks, 0))
        return;
    from = __shfl_sync(mask, from, 0);
    from += gyre_bridge_look_(queue, from);
    if (lane == 0) {
        atomicMax(&claims->ready, from);
        atomicExch(&claims->pollers[0], 0u);
        gyre_bridge_free_ahead_(view, worker->which, from + GYRE_BRIDGE_AHEAD / 2);
    }
    __syncwarp(mask);
}

/* ---- a run ---- */

/* Fetches the slots, with a few loads in flight in each of `threads` threads. */
GYRE_HELPER void gyre_bridge_fetch_slots_(const gyre_block_view *view, const gyre_worker *worker,
                                          gyre_chunk *cells, gyre_u32 thread, gyre_u32 threads)
{
    const gyre_served *queue = &view->served[worker->which];
    const gyre_u32 all = 4 * worker->count, cell = view->stage.cell;
#pragma unroll 1
    for (gyre_u32 start = thread; start < all; start += threads * GYRE_STAGE_LOADS_) {
        gyre_chunk mine[GYRE_STAGE_LOADS_];
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_STAGE_LOADS_; j++) {
            const gyre_u32 chunk = start + j * threads;
            if (chunk < all)
                mine[j] = gyre_chunk_load_(
                    (const gyre_chunk *)gyre_request_at_(queue, worker->first + chunk / 4) + chunk % 4);
        }
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_STAGE_LOADS_; j++) {
            const gyre_u32 chunk = start + j * threads;
            if (chunk < all)
                cells[chunk / 4 * cell + chunk % 4] = mine[j];
        }
    }
}

/*
 * Fetches the run into the stage, for all threads of the worker: first the slots, then the bytes that the slots name.
 */
GYRE_APART_ void gyre_bridge_fetch_(gyre_block_view *view, gyre_worker *worker, gyre_chunk *cells,
                                    gyre_u32 threads)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 thread = gyre_thread_of_(threads), looks = threads % 32 == 0 && threads > 32 ? 32 : 0;
    if (thread + looks < threads)
        gyre_bridge_fetch_slots_(view, worker, cells, thread, threads - looks);
    if (looks ? thread + looks >= threads : thread < 32)
        gyre_bridge_look_ahead_(view, worker); /* the last warp, when there are several */
    gyre_worker_meets_(threads);
#if GYRE_MOVE_BULK_
    if (gyre_comes_by_bulk_(view) && view->stage.request_chunks > GYRE_BRIDGE_BULK) {
        if (thread < 32)
            gyre_bridge_fetch_bulk_(view, worker, cells);
        gyre_worker_meets_(threads);
        gyre_fetch_end_(view, worker, threads);
        return;
    }
#endif
    gyre_bridge_fetch_loads_(view, worker, cells, threads);
    gyre_worker_meets_(threads);
}

/* ---- replies ---- */

/*
 * Allots bytes to the run's replies. Each reply's place, from the first reply on, is left in its request's header,
 * which is no longer needed. Called by the worker's first warp.
 */
GYRE_HELPER void gyre_bridge_allot_(const gyre_block_view *view, gyre_worker *worker)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = blockDim.x < 32 ? blockDim.x : 32;
    const gyre_u32 cell = view->stage.cell, mask = gyre_first_warp_();
    gyre_cuda_cursor *cursor = &view->cursors[view->served[worker->which].entry];
    gyre_chunk *cells = worker->cells;
    gyre_u32 all = 0;
#pragma unroll 1
    for (gyre_u32 base = 0; base < worker->count; base += lanes) {
        const gyre_u32 slot = base + lane;
        const gyre_chunk *reply = cells + slot * cell + view->stage.request_chunks;
        const gyre_u32 size = slot < worker->count ? gyre_bridge_reply_size_(view, *reply) : 0;
        gyre_u32 end = size;
#pragma unroll
        for (gyre_u32 step = 1; step < 32; step *= 2) {
            const gyre_u32 before = __shfl_up_sync(mask, end, step);
            end += lane >= step ? before : 0;
        }
        if (slot < worker->count)
            cells[slot * cell].x = all + end - size;
        all += __shfl_sync(mask, end, lanes - 1);
    }
    if (lane > 0)
        return;
    worker->long_replies = all > 0;
    worker->position = worker->spare || !all ? 0 : atomicAdd(&cursor->head, (gyre_u64)all);
    __threadfence(); /* the raised head is visible before the count of settled requests */
    atomicAdd(&cursor->settled, (gyre_u64)worker->count);
}

/* Allots room to the run's replies, and stores the replies that are longer than a slot. */
GYRE_APART_ void gyre_bridge_payloads_(const gyre_block_view *view, gyre_worker *worker, gyre_u32 threads)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_control_queue *row = gyre_bridge_row_(view, &view->served[worker->which]);
    const gyre_bridge_group_ mine = gyre_bridge_group_of_(threads, worker->count);
    const gyre_u64 bytes = gyre_near_half_load_(&row->bridge.reply_bytes);
    gyre_u8 *track =
        gyre_bridge_place_(row, worker->spare ? &row->bridge.spare_offset : &row->bridge.reply_offset);
    if (gyre_thread_of_(threads) < 32)
        gyre_bridge_allot_(view, worker);
    gyre_worker_meets_(threads);
    if (mine.group >= mine.groups)
        return;
#pragma unroll 1
    for (gyre_u32 slot = mine.group; slot < worker->count; slot += mine.groups) {
        const gyre_chunk *cell = worker->cells + slot * view->stage.cell;
        const gyre_chunk *reply = cell + view->stage.request_chunks;
        const gyre_u32 size = gyre_bridge_reply_size_(view, reply[0]);
        const gyre_u64 position = worker->position + cell[0].x;
        gyre_chunk *to = (gyre_chunk *)(track + (worker->spare ? 0 : GYRE_BRIDGE_AT(position, bytes)));
#pragma unroll 4
        for (gyre_u32 chunk = mine.lane; chunk * 16 < size; chunk += mine.lanes)
            gyre_chunk_store_(to + chunk, reply[1 + chunk]);
    }
}

/* Returns a quarter of a completion's line. Has no branches, so that four neighbouring threads stay together. */
GYRE_HELPER gyre_chunk gyre_bridge_quarter_(const gyre_block_view *view, const gyre_worker *worker,
                                            gyre_u32 slot, gyre_u32 part)
{
    const gyre_chunk *cell = worker->cells + slot * view->stage.cell;
    const gyre_chunk *reply = cell + view->stage.request_chunks;
    const gyre_chunk place = {worker->spare ? 0 : worker->position + cell[0].x,
                              worker->spare ? GYRE_TRACK_SPARE : 0};
    const gyre_u32 elsewhere = part == 1 && gyre_bridge_reply_size_(view, reply[0]) > 0;
    gyre_chunk quarter = reply[part];
    quarter.x = elsewhere ? place.x : quarter.x;
    quarter.y = elsewhere ? place.y : quarter.y;
    return quarter;
}

/* Stores the completions' lines one by one, for blocks of fewer than four lanes. */
GYRE_HELPER void gyre_bridge_lines_apart_(const gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_served *queue = &view->served[worker->which];
#pragma unroll 1
    for (gyre_u32 slot = threadIdx.x; slot < worker->count; slot += blockDim.x) {
        gyre_chunk *to = (gyre_chunk *)gyre_reply_at_(queue, worker->first + slot);
#pragma unroll 1
        for (gyre_u32 part = 1; part < 4; part++)
            gyre_chunk_store_(to + part, gyre_bridge_quarter_(view, worker, slot, part));
        gyre_release_system_();
        gyre_chunk_store_(to, gyre_bridge_quarter_(view, worker, slot, 0));
    }
}

/*
 * Stores the completions' lines, which say that the replies are there. Four neighbouring threads store a line
 * together, because only then it travels whole. Called by a warp.
 */
GYRE_APART_ void gyre_bridge_lines_(const gyre_block_view *view, const gyre_worker *worker)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_served *queue = &view->served[worker->which];
    const gyre_u32 lane = threadIdx.x & 31, lanes = blockDim.x < 32 ? blockDim.x / 4 * 4 : 32;
    const gyre_u32 all = 4 * worker->count, mask = gyre_first_warp_();
    gyre_settle_(lane < all);
    if (lanes == 0) {
        gyre_bridge_lines_apart_(view, worker);
        return;
    }
#pragma unroll 1
    for (gyre_u32 base = 0; base < all; base += lanes) {
        const gyre_u32 chunk = base + lane, mine = lane < lanes && chunk < all;
        const gyre_u32 slot = mine ? chunk / 4 : 0;
        const gyre_chunk quarter = gyre_bridge_quarter_(view, worker, slot, chunk % 4);
        __syncwarp(mask);
        if (mine)
            gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, worker->first + slot) + chunk % 4, quarter);
    }
}

#endif
