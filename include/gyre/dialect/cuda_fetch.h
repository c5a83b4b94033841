/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a worker (a group of warps, or a block) meets, and how bulk copies fetch its messages. A part (see cuda_resident.h):
 * each function runs once a run of messages. Included by cuda_move.h.
 */
#ifndef GYRE_DIALECT_CUDA_FETCH_H
#define GYRE_DIALECT_CUDA_FETCH_H

#ifndef GYRE_STAGE_LOADS_
#define GYRE_STAGE_LOADS_ 8 /* 16-byte loads in flight of each thread */
#endif

/*
 * The number of this thread's worker, and the thread's number in the worker, when workers have `threads` threads. A
 * worker is the block, or a power of two of threads.
 */
GYRE_HELPER gyre_u32 gyre_worker_of_(gyre_u32 threads)
{
    return threads == blockDim.x ? 0 : threadIdx.x >> (__ffs((int)threads) - 1);
}

GYRE_HELPER gyre_u32 gyre_thread_of_(gyre_u32 threads)
{
    return threads == blockDim.x ? threadIdx.x : threadIdx.x & (threads - 1);
}

/* Makes the `threads` threads of a worker meet; afterwards the lanes of each warp are together. */
GYRE_HELPER void gyre_worker_meets_(gyre_u32 threads)
{
    if (threads == blockDim.x)
        __syncthreads();
    else /* barrier 0 belongs to the block */
        asm volatile("bar.sync %0,%1;" ::"r"(1 + gyre_worker_of_(threads)), "r"(threads) : "memory");
}

/*
 * Returns the message that chunk `chunk` of a run belongs to, which is chunk / each. Computes it by the high half of a
 * product, which is right for runs, because they have fewer than 2^16 chunks and messages.
 */
GYRE_HELPER gyre_u32 gyre_message_of_(gyre_u32 chunk, gyre_u32 reciprocal)
{
    return reciprocal ? __umulhi(chunk, reciprocal) : chunk;
}

GYRE_HELPER gyre_u32 gyre_reciprocal_(gyre_u32 each)
{
    return each > 1 ? 0xffffffffu / each + 1 : 0;
}

/* ---- shared memory ---- */

/*
 * Accesses shared memory by its own addresses. The compiler does not know where a pointer leads that was itself loaded
 * from memory: it makes generic accesses, each with a branch around it, and the extra instructions cost time.
 */
GYRE_HELPER gyre_u32 gyre_shared_address_(const void *pointer)
{
    gyre_u64 address;
    asm("cvta.to.shared.u64 %0,%1;" : "=l"(address) : "l"(pointer));
    return (gyre_u32)address;
}

GYRE_HELPER gyre_chunk gyre_shared_load_if_(gyre_u32 there, gyre_u32 address)
{
    gyre_chunk chunk;
    asm volatile("{ .reg .pred there; setp.ne.u32 there,%3,0; @there ld.shared.v2.u64 {%0,%1},[%2]; }"
                 : "=l"(chunk.x), "=l"(chunk.y)
                 : "r"(address), "r"(there)
                 : "memory");
    return chunk;
}

GYRE_HELPER void gyre_shared_store_if_(gyre_u32 there, gyre_u32 address, gyre_chunk chunk)
{
    asm volatile(
        "{ .reg .pred there; setp.ne.u32 there,%3,0; @there st.shared.v2.u64 [%0],{%1,%2}; }" ::"r"(address),
        "l"(chunk.x), "l"(chunk.y), "r"(there)
        : "memory");
}

/* ---- bulk copies ---- */

/*
 * Bulk copies: a device that has them copies a message by one instruction of one thread, in larger reads than threads
 * make and with more of them under way. To the memory order, the copies are another "proxy" than the threads' own
 * accesses: a fence orders them after the earlier use of the shared memory that they go to. No thread of the device
 * ever writes the memory that they read. They are started once the look that found the messages has returned. (A fence
 * for all memory waits for everything that is under way, a microsecond.)
 */
#ifndef GYRE_MOVE_BULK
#define GYRE_MOVE_BULK 1
#endif
#ifndef GYRE_MOVE_APART
#define GYRE_MOVE_APART 4 /* up to this many requests are copied one by one, straight into their cells */
#endif
/*
 * Requests of more bytes than this come by loads, if there are more than a few blocks. A bulk copy arrives sooner, but
 * many bulk copies at a time are slow. Four rings of 64 KiB through a bare kernel made 18 - 21 GB/s each way with bulk
 * copies and 30 - 36 with loads; through one block of this loop 5.6 with a bulk copy and 4.4 with loads.
 */
#ifndef GYRE_MOVE_BULK_MOST
#define GYRE_MOVE_BULK_MOST 8192
#endif
#define GYRE_MOVE_FEW_BLOCKS 8
#if __CUDA_ARCH__ >= 900 && GYRE_MOVE_BULK
#define GYRE_MOVE_BULK_ 1

GYRE_HELPER gyre_u32 gyre_comes_by_bulk_(const gyre_block_view *view)
{
    return view->stage.in_shared &&
           (view->stage.request_chunks * 16 <= GYRE_MOVE_BULK_MOST || gridDim.x <= GYRE_MOVE_FEW_BLOCKS);
}

/* Makes the barriers of the workers. Called by one thread, before any worker fetches. */
GYRE_HELPER void gyre_barriers_make_(gyre_block_view *view)
{
#pragma unroll 1
    for (gyre_u32 i = 0; i < GYRE_CUDA_WORKERS_MAX; i++) {
        view->workers[i].parity = 1;
        asm volatile(
            "mbarrier.init.shared::cta.b64 [%0],1;" ::"r"(gyre_shared_address_(&view->workers[i].barrier))
            : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Starts a bulk copy. Called by one thread. */
GYRE_HELPER void gyre_bulk_copy_(const gyre_worker *worker, gyre_chunk *to, const gyre_slot *from,
                                 gyre_u32 size)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(
                     gyre_shared_address_(to)),
                 "l"(from), "r"(size), "r"(gyre_shared_address_(&worker->barrier))
                 : "memory");
}

/* The chunks of a request slot, in a queue whose messages are not larger than the kernel's. */
GYRE_HELPER gyre_u32 gyre_slot_chunks_(const gyre_block_view *view)
{
    return view->stage.request_chunks > 4 ? view->stage.request_chunks : 4;
}

/* Whether the worker's run comes in one piece, which is taken apart afterwards (dense). */
GYRE_HELPER gyre_u32 gyre_is_dense_(const gyre_block_view *view, const gyre_worker *worker)
{
    return view->stage.dense && worker->count > GYRE_MOVE_APART &&
           view->served[worker->which].request_stride == gyre_slot_chunks_(view) * 16;
}

/*
 * Returns where a dense run is fetched to: the end of the worker's cells. A cell is larger than a slot. So slots that
 * are spread from the first message on never overwrite a slot that was not spread yet.
 */
GYRE_HELPER gyre_chunk *gyre_dense_place_(const gyre_block_view *view, const gyre_worker *worker)
{
    return worker->cells + view->stage.window * view->stage.cell - worker->count * gyre_slot_chunks_(view);
}

/* Fetches a dense run, in two pieces if it passes the end of the ring. Called by one thread. */
GYRE_HELPER void gyre_fetch_dense_(const gyre_block_view *view, const gyre_worker *worker)
{
    const gyre_served *queue = &view->served[worker->which];
    const gyre_u64 first = worker->first, left = queue->mask + 1 - (first & queue->mask);
    const gyre_u32 count = worker->count, head = left < count ? (gyre_u32)left : count;
    const gyre_u32 each = gyre_slot_chunks_(view);
    gyre_chunk *place = gyre_dense_place_(view, worker);
    gyre_bulk_copy_(worker, place, gyre_request_at_(queue, first), head * each * 16);
    if (head < count)
        gyre_bulk_copy_(worker, place + head * each, gyre_request_at_(queue, first + head),
                        (count - head) * each * 16);
}

/* Starts to copy the run that was found. Called by the worker's first warp, whose lanes are together. */
GYRE_HELPER void gyre_fetch_start_(const gyre_block_view *view, gyre_worker *worker)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = blockDim.x < 32 ? blockDim.x : 32;
    const gyre_u32 count = worker->count, dense = gyre_is_dense_(view, worker);
    const gyre_u32 size = (dense ? gyre_slot_chunks_(view) : view->stage.request_chunks) * 16;
    if (count == 0 || !gyre_comes_by_bulk_(view))
        return;
    /* the words beside `count` are read with it, and lane 0 writes one of them */
    __syncwarp(gyre_first_warp_());
    if (lane == 0) {
        worker->parity ^= 1;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(
                         gyre_shared_address_(&worker->barrier)),
                     "r"(count * size)
                     : "memory");
    }
    __syncwarp(gyre_first_warp_());
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (dense && lane == 0)
        gyre_fetch_dense_(view, worker);
#pragma unroll 1
    for (gyre_u32 slot = lane; slot < count && !dense; slot += lanes)
        gyre_bulk_copy_(worker, worker->cells + slot * view->stage.cell,
                        gyre_request_at_(&view->served[worker->which], worker->first + slot), size);
}

/*
 * Spreads a dense run into cells, a few chunks of each thread at a time: all threads have read their chunks before a
 * chunk is stored.
 */
#define GYRE_SPREAD_CHUNKS_ 4
GYRE_APART_ void gyre_spread_(const gyre_block_view *view, const gyre_worker *worker, gyre_u32 threads)
{
    GYRE_IN_SHARED_(view);
    GYRE_IN_SHARED_(worker);
    const gyre_u32 place = gyre_shared_address_(gyre_dense_place_(view, worker));
    const gyre_u32 cells = gyre_shared_address_(worker->cells);
    const gyre_u32 each = view->stage.request_chunks, apart = view->stage.cell - each;
    const gyre_u32 left = gyre_slot_chunks_(view) - each; /* unused chunks of each slot */
    const gyre_u32 reciprocal = view->stage.request_reciprocal, all = worker->count * each;
    gyre_u32 chunk = gyre_thread_of_(threads);
#pragma unroll 1
    for (gyre_u32 first = 0; first < all; first += threads * GYRE_SPREAD_CHUNKS_) {
        gyre_chunk mine[GYRE_SPREAD_CHUNKS_];
        gyre_u32 to[GYRE_SPREAD_CHUNKS_], there[GYRE_SPREAD_CHUNKS_];
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_SPREAD_CHUNKS_; j++, chunk += threads) {
            const gyre_u32 slot = gyre_message_of_(chunk, reciprocal);
            there[j] = chunk < all;
            to[j] = cells + 16 * (slot * apart + chunk);
            mine[j] = gyre_shared_load_if_(there[j], place + 16 * (slot * left + chunk));
        }
        gyre_worker_meets_(threads);
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_SPREAD_CHUNKS_; j++)
            gyre_shared_store_if_(there[j], to[j], mine[j]);
    }
}

/* Waits until the started bulk copies have arrived. Called by all threads of the worker. */
GYRE_HELPER void gyre_await_copy_(const gyre_worker *worker)
{
    const gyre_u32 barrier = gyre_shared_address_(&worker->barrier), parity = worker->parity;
    gyre_u32 arrived = 0;
    while (!arrived)
        asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done,[%1],%2;"
                     " selp.u32 %0,1,0,done; }"
                     : "=r"(arrived)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

/* Waits until the started copies are in the cells. Called by all threads of the worker. */
GYRE_HELPER void gyre_fetch_end_(const gyre_block_view *view, const gyre_worker *worker, gyre_u32 threads)
{
    gyre_await_copy_(worker);
    if (!gyre_is_dense_(view, worker))
        return;
    gyre_spread_(view, worker, threads);
    gyre_worker_meets_(threads);
}
#else
#define GYRE_MOVE_BULK_ 0

GYRE_HELPER void gyre_barriers_make_(gyre_block_view *)
{
}

GYRE_HELPER void gyre_fetch_start_(const gyre_block_view *, gyre_worker *)
{
}

GYRE_HELPER void gyre_await_copy_(const gyre_worker *)
{
}
#endif

#endif
