/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves queues of lane kernels whose request and reply each fit one line: the quickest way through a GPU. Included by
 * cuda_resident.h. Larger messages go by cuda_stage.h.
 *
 * While a queue is idle, two warps poll its next slot out of phase and serve short runs themselves, with one crossing
 * of the bus each way. After two full polls in a row the whole block takes windows of slots through shared memory:
 * each thread handles one message at a time, with GYRE_CUDA_LOADS loads in flight. Requests and replies move as whole
 * lines, so there is no fence and no index word.
 */
#ifndef GYRE_DIALECT_CUDA_LINES_H
#define GYRE_DIALECT_CUDA_LINES_H

#ifndef GYRE_CUDA_POLL_WARPS
#define GYRE_CUDA_POLL_WARPS 2
#endif
#ifndef GYRE_CUDA_POLL_SLOTS
#define GYRE_CUDA_POLL_SLOTS 2 /* slots that a poll looks at, at most 8 */
#endif
#define GYRE_CUDA_STAGGER 900 /* clocks: half a poll */
#if GYRE_STANDS_SOON
#define GYRE_CUDA_POLLS_PER_ORDER 2
#define GYRE_CUDA_POLL_OF_ORDER   1 /* the first one, too */
#else
#define GYRE_CUDA_POLLS_PER_ORDER 16 /* polls between two looks at the order */
#define GYRE_CUDA_POLL_OF_ORDER   0
#endif

GYRE_HELPER void gyre_line_head_(gyre_chunk *line, gyre_u64 index, gyre_u32 length, gyre_u32 info)
{
    line[0].x = index + 1;
    line[0].y = (gyre_u64)info << 32 | length;
}

GYRE_HELPER void gyre_line_fail_(gyre_chunk *line, gyre_u64 index, gyre_i32 code, const char *text)
{
    gyre_failure failure;
    gyre_u32 i = 0;
    failure.code = code;
    for (; i < sizeof failure.text - 1 && text[i]; i++)
        failure.text[i] = text[i];
    for (; i < sizeof failure.text; i++)
        failure.text[i] = 0;
    memcpy(line + 1, &failure, sizeof failure);
    gyre_line_head_(line, index, sizeof failure, GYRE_OUTCOME_FAILED);
}

/* Turns the request in `line` into its completion. Returns 1 when the handler failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_line_(gyre_chunk *line, gyre_u64 index, gyre_u64 drop_before, void *state,
                                       const void *buffers, gyre_context *gyre)
{
    if (index < drop_before) {
        gyre_line_head_(line, index, 0, GYRE_OUTCOME_DROPPED);
        return 0;
    }
    const gyre_u32 said = (gyre_u32)line[1].x;
    if (GYRE_LENGTH_WRONG_((gyre_u32)line[0].y, K::gyre_its_request_least_, K::gyre_its_request_size_,
                           said)) {
        gyre_line_fail_(line, index, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        return 1;
    }
    gyre->failed = 0;
    GYRE_HEADER_TAKE_(gyre, index);
    GYRE_STAMP_BEGIN_(gyre, index, started);
    const int result = gyre_seal_holds_(gyre, index, line + 1, (gyre_u32)line[0].y)
                           ? K::gyre_its_handle_chunks_(line + 1, state, buffers, gyre)
                           : GYRE_FAILED;
    GYRE_STAMP_END_(gyre, index, started);
    const gyre_u32 used = (gyre_u32)line[1].x;
    if (gyre->failed)
        gyre_line_fail_(line, index, gyre->fail_code, gyre->fail_text);
    else if (result == GYRE_OUTCOME_REPLY && K::gyre_its_reply_size_ > 0)
        gyre_line_head_(line, index,
                        GYRE_REPLY_LENGTH_(K::gyre_its_reply_least_, K::gyre_its_reply_size_, used),
                        GYRE_OUTCOME_REPLY);
    else
        gyre_line_head_(line, index, 0, GYRE_OUTCOME_NO_REPLY);
    gyre_seal_reply_(gyre, index, (gyre_u32)(line[0].y >> 32), line + 1, (gyre_u32)line[0].y);
    return gyre->failed;
}

GYRE_HELPER gyre_chunk gyre_chunk_shuffle_(gyre_chunk chunk, gyre_u32 from)
{
    chunk.x = __shfl_sync(0xffffffffu, chunk.x, (int)from);
    chunk.y = __shfl_sync(0xffffffffu, chunk.y, (int)from);
    return chunk;
}

/*
 * Serves `count` requests from index `first` on, by one warp. Lane 4 k + part holds that part of request k. Lane k
 * runs the handler for request k.
 */
template <class K>
GYRE_HELPER void gyre_serve_warp_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                  gyre_served *queue, gyre_u32 *turn, gyre_chunk mine, gyre_u64 first,
                                  gyre_u32 count, const void *buffers, gyre_context *gyre)
{
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    gyre_chunk line[4];
    gyre_u32 failed = 0;
    if (lane == 0)
        gyre_turn_begins_(turn);
    GYRE_QUEUE_BEGIN_(gyre, queue);
#pragma unroll
    for (int i = 0; i < 4; i++)
        line[i] = gyre_chunk_shuffle_(mine, (lane * 4 + i) & 31);
    if (lane < count)
        failed = gyre_handle_line_<K>(line, first + lane, 0, arguments.state, buffers, gyre);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const gyre_chunk other = gyre_chunk_shuffle_(line[i], number);
        if (part == (gyre_u32)i)
            mine = other;
    }
    gyre_settle_(number < count);
    if (number < count)
        gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, first + number) + part, mine);
    const gyre_u32 failures = (gyre_u32)__popc(__ballot_sync(0xffffffffu, failed));
    if (lane == 0) {
        gyre_turn_ends_(turn);
        atomicAdd(&view->handled, (gyre_u64)count);
        if (failures)
            atomicAdd(&view->failed, (gyre_u64)failures);
    }
}

/* Reads `go`, a word of the view that the polling warps share. */
GYRE_HELPER gyre_u32 gyre_go_(gyre_block_view *view)
{
    return atomicAdd(&view->go, 0u);
}

/*
 * Looks at the host's words now and then: another order ends the polling, and counts that changed are written to the
 * host. Called by one lane of each warp.
 */
GYRE_HELPER void gyre_look_up_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u64 order,
                               gyre_u64 *told)
{
    if (order != view->order)
        atomicExch(&view->go, GYRE_GO_ORDER);
    const gyre_u64 handled = atomicAdd(&view->handled, 0ull);
    if (threadIdx.x == 0 && handled != *told) {
        *told = handled;
        gyre_count_served_(arguments, view);
    }
}

/*
 * Polls, by one warp: looks at the queues in turn, serves short runs, and returns when `view->go` says why. The two
 * polling warps share each queue's position; the warp that advances it owns the run.
 */
template <class K>
GYRE_HELPER void gyre_poll_lines_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                  const void *buffers, gyre_context *gyre)
{
    constexpr gyre_u32 full = 0x11111111u >> (32 - 4 * GYRE_CUDA_POLL_SLOTS);
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    gyre_u32 *const turn = gyre_turn_(arguments, threadIdx.x >> 5);
    gyre_u32 which = view->next_queue, polls = 0, streak = 0;
    gyre_u64 told = ~0ull;
    /* polls out of phase, because simultaneous polls of one line wait for each other */
    if (threadIdx.x >= 32) {
        const gyre_u64 start = (gyre_u64)clock64();
        while ((gyre_u64)clock64() - start < GYRE_CUDA_STAGGER)
            ;
    }
    while (__shfl_sync(0xffffffffu, lane == 0 ? gyre_go_(view) : 0u, 0) == 0) {
        gyre_served *queue = &view->served[which];
        const gyre_u64 first =
            __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(&queue->own.next, 0ull) : 0ull, 0);
        const gyre_u32 asks = lane == 0 && ++polls % GYRE_CUDA_POLLS_PER_ORDER == GYRE_CUDA_POLL_OF_ORDER;
        gyre_chunk mine = {0, 0};
        gyre_u64 order = 0;
        if (number < GYRE_CUDA_POLL_SLOTS)
            mine = gyre_chunk_load_((const gyre_chunk *)gyre_request_at_(queue, first + number) + part);
        if (asks) /* the read of the order is in flight together with the reads of the slots */
            order = gyre_word_load_(view->order_word);
        const gyre_u32 there = __ballot_sync(0xffffffffu, part == 0 && number < GYRE_CUDA_POLL_SLOTS &&
                                                              mine.x == first + number + 1);
        if (asks)
            gyre_look_up_(arguments, view, order, &told);
        if ((there & 1) == 0) {
            streak = 0;
            which = gyre_queue_after_(view, which);
            gyre_rest_(arguments.pause_ns);
            continue;
        }
        const gyre_u32 run =
            there == full ? GYRE_CUDA_POLL_SLOTS : (gyre_u32)(__ffs((int)~(there | ~0x11111111u)) - 1) >> 2;
        gyre_u64 owner = 0;
        if (lane == 0)
            owner = atomicCAS(&queue->own.next, first, first + run);
        if (__shfl_sync(0xffffffffu, owner, 0) != first)
            continue;
        gyre_serve_warp_<K>(arguments, view, queue, turn, mine, first, run, buffers, gyre);
        streak = run == GYRE_CUDA_POLL_SLOTS ? streak + 1 : 0;
        if (streak >= 2 && lane == 0)
            atomicCAS(&view->go, 0u, which + 1);
        __syncwarp();
    }
}

/* Returns where chunk `part` of slot `slot` lies in shared memory: threads that walk slots use different banks. */
GYRE_HELPER gyre_u32 gyre_swizzle_(gyre_u32 slot, gyre_u32 part)
{
    return slot * 4 + ((part + (slot >> 1)) & 3);
}

/*
 * Finds the first slot whose request is missing, over all threads. Each warp first finds its own first one, because all
 * warps write to one word.
 */
GYRE_HELPER void gyre_note_missing_(gyre_block_view *view, gyre_u32 missing, gyre_u32 slots)
{
#pragma unroll
    for (int other = 16; other >= 4; other /= 2) { /* of four neighbours only the first looks at a sequence */
        const gyre_u32 theirs = __shfl_xor_sync(0xffffffffu, missing, other);
        missing = theirs < missing ? theirs : missing;
    }
    if ((threadIdx.x & 31) == 0 && missing < slots)
        atomicMin(&view->first_bad, missing);
}

/* Loads a chunk if `wanted`, without a branch around the load, which would cost registers. */
GYRE_HELPER gyre_chunk gyre_chunk_load_if_(gyre_u32 wanted, const void *from)
{
    gyre_chunk chunk;
    asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted,%3,0;"
                 " mov.u64 %0,0; mov.u64 %1,0; @wanted ld.relaxed.sys.global.v2.u64 {%0,%1},[%2]; }"
                 : "=&l"(chunk.x), "=&l"(chunk.y)
                 : "l"(from), "r"(wanted)
                 : "memory");
    return chunk;
}

/*
 * Counts the rows of the next window that are there already, from index `from` on, into view->rows_ahead. Looks once at
 * the end of each row. These loads are in flight together with the loads of the present window. Called by the first
 * warp.
 */
GYRE_HELPER void gyre_look_ahead_lines_(gyre_block_view *view, const gyre_served *queue, gyre_u64 from)
{
    const gyre_u32 lane = threadIdx.x & 31;
    const gyre_u64 last = from + (lane + 1) * (blockDim.x / 4) - 1;
    gyre_u64 sequence = 0;
    if (lane < GYRE_CUDA_LOADS)
        sequence = gyre_word_load_(&gyre_request_at_(queue, last)->sequence);
    const gyre_u32 there = __ballot_sync(0xffffffffu, sequence == last + 1);
    if (lane == 0)
        view->rows_ahead = (gyre_u32)__ffs((int)~there) - 1;
}

/*
 * Returns how many rows to fetch next, when `count` of the `asked` slots were there. Only slots that are known to be
 * there are fetched. A line that is read beyond the client's last message crosses the bus for nothing, and the client
 * is about to write it: with windows that were always fetched whole, one ring carried half as much. If a window was
 * not full, the next window has half of its slots, so that a look behind it finds some.
 */
GYRE_HELPER gyre_u32 gyre_rows_next_(const gyre_block_view *view, gyre_u32 asked, gyre_u32 count)
{
    const gyre_u32 half = count / (blockDim.x / 4) / 2;
    if (count == asked)
        return view->rows_ahead ? view->rows_ahead : GYRE_CUDA_LOADS;
    return half ? half : 1;
}

/* Works off a backlog with the whole block, a window at a time. */
template <class K>
GYRE_HELPER void gyre_drain_lines_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                   gyre_served *queue, gyre_chunk *window, const void *buffers,
                                   gyre_context *gyre)
{
    const gyre_u32 threads = blockDim.x, slots = threads * GYRE_CUDA_LOADS / 4;
    gyre_u64 first = queue->own.next;
    gyre_u32 rows = GYRE_CUDA_LOADS;
    int go_on = 1;
    GYRE_QUEUE_BEGIN_(gyre, queue);
    if (threadIdx.x == 0) {
        view->next_queue = (gyre_u32)(queue - view->served);
        view->first_bad = slots;
        view->drop_before = queue->dropping;
    }
    __syncthreads();
    while (go_on) {
        gyre_chunk mine[GYRE_CUDA_LOADS];
        const gyre_u32 asked = rows * (threads / 4);
        gyre_u32 missing = asked;
        gyre_u64 order = view->order, drop_before = queue->dropping;
        if (threadIdx.x == 0 && (gyre_u64)clock64() - queue->looked > GYRE_CUDA_LOOK_CLOCKS) {
            const gyre_u64 now = (gyre_u64)clock64();
            if (gyre_is_others_turn_(view, queue->looked, now))
                view->next_queue = gyre_queue_after_(view, (gyre_u32)(queue - view->served));
            queue->looked = now;
            order = gyre_word_load_(view->order_word);
            drop_before = gyre_word_load_(queue->drop_before);
        }
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_CUDA_LOADS; j++) {
            const gyre_u32 chunk = threadIdx.x + j * threads;
            mine[j] = gyre_chunk_load_if_(
                j < rows, (const gyre_chunk *)gyre_request_at_(queue, first + (chunk >> 2)) + (chunk & 3));
        }
        if (threadIdx.x < 32)
            gyre_look_ahead_lines_(view, queue, first + asked);
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_CUDA_LOADS; j++) {
            const gyre_u32 chunk = threadIdx.x + j * threads, slot = chunk >> 2;
            if (j < rows) {
                if ((chunk & 3) == 0 && mine[j].x != first + slot + 1 && slot < missing)
                    missing = slot;
                window[gyre_swizzle_(slot, chunk & 3)] = mine[j];
            }
        }
        gyre_note_missing_(view, missing, asked);
        __syncthreads();
        const gyre_u32 count = view->first_bad < asked ? view->first_bad : asked;
        rows = gyre_rows_next_(view, asked, count);
        if (threadIdx.x == 0 && count)
            gyre_turn_begins_(gyre_turn_(arguments, 0));
        gyre_u32 failed = 0;
        for (gyre_u32 slot = threadIdx.x; slot < count; slot += threads) {
            gyre_chunk line[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                line[i] = window[gyre_swizzle_(slot, i)];
            failed +=
                gyre_handle_line_<K>(line, first + slot, view->drop_before, arguments.state, buffers, gyre);
#pragma unroll
            for (int i = 0; i < 4; i++)
                window[gyre_swizzle_(slot, i)] = line[i];
        }
        if (failed)
            atomicAdd(&view->failed, (gyre_u64)failed);
        go_on = __syncthreads_or(threadIdx.x == 0 && order == view->order && count >= slots / 8 &&
                                 queue == &view->served[view->next_queue]);
        gyre_settle_(threadIdx.x < 4 * count);
        for (gyre_u32 chunk = threadIdx.x; chunk < 4 * count; chunk += threads)
            gyre_chunk_store_((gyre_chunk *)gyre_reply_at_(queue, first + (chunk >> 2)) + (chunk & 3),
                              window[gyre_swizzle_(chunk >> 2, chunk & 3)]);
        first += count;
        if (threadIdx.x == 0) {
            view->first_bad = slots;
            view->drop_before = queue->dropping = drop_before;
            view->handled += count;
            queue->own.next = first;
            gyre_count_served_(arguments, view);
            if (order != view->order)
                view->go = GYRE_GO_ORDER; /* ends the run even if there is a backlog */
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        gyre_turn_ends_(gyre_turn_(arguments, 0));
}

template <class K>
GYRE_HELPER void gyre_serve_lines_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    if (threadIdx.x == 0)
        view->go = view->next_queue = 0;
    __syncthreads();
    for (;;) {
        if (threadIdx.x < 32 * GYRE_CUDA_POLL_WARPS)
            gyre_poll_lines_<K>(arguments, view, buffers, gyre);
        __syncthreads();
        const gyre_u32 backlog = view->go;
        if (backlog != GYRE_GO_ORDER)
            gyre_drain_lines_<K>(arguments, view, &view->served[backlog - 1], memory, buffers, gyre);
        const gyre_u32 go = view->go;
        __syncthreads();
        if (go == GYRE_GO_ORDER)
            return;
        if (threadIdx.x == 0)
            view->go = 0;
        __syncthreads();
    }
}

#endif
