/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resident entry of CUDA kernels, the function that stays on the GPU: a loop that obeys orders, polls rings in
 * mapped host memory, and feeds the handler, until it is told to leave. The backend launches it in
 * backends/cuda/presence/cuda_serial.c (cuLaunchCooperativeKernel). The ways to serve a queue are in cuda_lines.h (messages of
 * one line) and cuda_stage.h (larger messages, and block kernels).
 *
 * Memory: rings and control words are host memory across PCIe. Only the functions of this file read and write them;
 * these bypass the caches (relaxed, system scope). A line of 64 bytes that one warp instruction reads or writes whole
 * crosses the bus as one transaction, so its sequence and its payload arrive together; see docs/backends/cuda.md.
 *
 * Parts, as the other files call them, are functions that all kernels share and that are compiled once (cuda.h). A run
 * is a batch of messages that a worker handles together.
 */
#ifndef GYRE_DIALECT_CUDA_RESIDENT_H
#define GYRE_DIALECT_CUDA_RESIDENT_H

#include "gyre/dialect/cuda_module.h"

/* 1: looks for orders are made more often, and messages wait a little longer for that (`stands_soon` of [kernel.NAME]). */
#ifndef GYRE_STANDS_SOON
#define GYRE_STANDS_SOON 0
#endif

/* ---- memory across the bus ---- */

/** A quarter of a line, which one thread moves at once. */
struct alignas(16) gyre_chunk {
    gyre_u64 x, y;
};

GYRE_HELPER gyre_chunk gyre_chunk_load_(const void *from)
{
    gyre_chunk chunk;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0,%1},[%2];"
                 : "=l"(chunk.x), "=l"(chunk.y)
                 : "l"(from)
                 : "memory");
    return chunk;
}

GYRE_HELPER void gyre_chunk_store_(void *to, gyre_chunk chunk)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0],{%1,%2};" ::"l"(to), "l"(chunk.x), "l"(chunk.y)
                 : "memory");
}

GYRE_HELPER gyre_u64 gyre_word_load_(const gyre_u64 *from)
{
    gyre_u64 value;
    asm volatile("ld.relaxed.sys.global.u64 %0,[%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

GYRE_HELPER gyre_u32 gyre_half_load_(const gyre_u32 *from)
{
    gyre_u32 value;
    asm volatile("ld.relaxed.sys.global.u32 %0,[%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/* A fence among the threads of a block. */
GYRE_HELPER void gyre_fence_block_(void)
{
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

/*
 * Whose changes a load of this device's memory sees. A stage may have its links with kernels of another device (cuda_link_view.h); in
 * loads and stores without a fence the wider scope costs nothing.
 */
#if GYRE_STAGE
#define GYRE_NEAR_SCOPE_ "sys"
#else
#define GYRE_NEAR_SCOPE_ "gpu"
#endif

/* Loads a word of shared or device memory that other warps or blocks change. */
GYRE_HELPER gyre_u64 gyre_near_load_(const gyre_u64 *from)
{
    gyre_u64 value;
    asm volatile("ld.relaxed." GYRE_NEAR_SCOPE_ ".u64 %0,[%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

GYRE_HELPER gyre_u32 gyre_near_half_load_(const gyre_u32 *from)
{
    gyre_u32 value;
    asm volatile("ld.relaxed." GYRE_NEAR_SCOPE_ ".u32 %0,[%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

GYRE_HELPER void gyre_word_store_(gyre_u64 *to, gyre_u64 value)
{
    asm volatile("st.relaxed.sys.global.u64 [%0],%1;" ::"l"(to), "l"(value) : "memory");
}

/*
 * A fence: all stores before it, by this thread and by threads that it met at a barrier, are visible to the host
 * before the accesses behind it.
 */
GYRE_HELPER void gyre_fence_system_(void)
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/*
 * A fence for stores alone, used where this thread reads nothing that others wrote. A fence that acquires as well
 * empties the multiprocessor's cache, also of the words that functions and handlers keep there for themselves.
 */
GYRE_HELPER void gyre_release_system_(void)
{
#if __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
    asm volatile("fence.release.sys;" ::: "memory");
#else
    gyre_fence_system_();
#endif
}

/*
 * Called by threads before they store completions without a fence. The device reports a store to missing memory late,
 * and later stores may be out by then; a fence after it never ends. With -DGYRE_FENCED=1 no completion leaves the device
 * after a failed store (docs/reliability.md).
 */
GYRE_HELPER void gyre_settle_(int stores)
{
#if GYRE_FENCED
    if (stores)
        gyre_fence_system_();
#else
    (void)stores;
#endif
}

GYRE_HELPER gyre_u64 gyre_device_load_(const gyre_u64 *from)
{
    gyre_u64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0,[%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

GYRE_HELPER void gyre_rest_(gyre_u32 nanoseconds)
{
    if (nanoseconds)
        asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

/* ---- a block's view ---- */

/** A queue that this block serves. */
struct gyre_served {
    gyre_cuda_claims own;     /* used while this block has the queue for itself */
    gyre_cuda_claims *claims; /* `own`, or the cursor's */
    const gyre_u8 *requests;
    gyre_u8 *replies;
    gyre_u64 *drop_before;  /* the host's word; usually 0, because nothing was ever dropped */
    gyre_stamp *stamps;     /* NULL: messages are not timed */
    const gyre_u8 *headers; /* NULL: messages have no headers */
    gyre_u64 dropping;      /* *drop_before when this block looked, at clock `looked` */
    gyre_u64 looked;
    gyre_u64 mask;
    const gyre_express_line *express;   /* express lines of requests (cuda_express.h); NULL: there are none */
    gyre_express_line *express_replies; /* express lines of replies; NULL: there are none */
    gyre_u64 lone_at;                   /* the clock when a lone request was last taken */
    gyre_u32 request_stride, reply_stride;
    gyre_u32 header_size;
    gyre_u16 entry; /* the number of the queue's entry in the table */
    gyre_u16 kind;  /* GYRE_BRIDGED_ bits: requests, replies are stored back to back (cuda_bridge.h) */
};

#define GYRE_BRIDGED_REQUESTS_ 1u
#define GYRE_BRIDGED_REPLIES_  2u
#define GYRE_KIND_SEALED_      4u  /* messages have checksums */
#define GYRE_KIND_FOREIGN_     8u  /* GYRE_FOREIGN_RING: headers are copied, as all other words always are */
#define GYRE_KIND_ZEROED_      16u /* replies begin zeroed */

/** The stage: how workers keep the messages that they work on. Sizes in chunks. */
struct gyre_stage_place {
    gyre_u32 threads;                      /* threads of each worker */
    gyre_u32 request_chunks, reply_chunks; /* chunks of each message, its header included */
    /* distance from message to message; the reply follows the request */
    gyre_u32 cell;
    gyre_u32 window;             /* messages that a worker takes at once */
    gyre_u32 request_reciprocal; /* for gyre_message_of_ */
    gyre_u32 reply_reciprocal;
    gyre_u32 dense;     /* a run is fetched as it lies in the ring */
    gyre_u32 in_shared; /* cells are in shared memory */
    gyre_u32 least;     /* the window of a block kernel or an actor is at least this */
    gyre_u32 most;      /* and at most this; 0: it is fixed */
    gyre_u64 started;   /* the clock when the block's run was in the stage */
};

/** The properties of a kernel that parts (functions shared by all kernels) need. Sizes in chunks. */
struct gyre_shape {
    gyre_u32 is; /* GYRE_SHAPE_ bits */
    gyre_u32 request_chunks, reply_chunks, scratch_chunks;
    gyre_u32 state_bytes; /* size of a state that is in shared memory while queues are served; else 0 */
};
#define GYRE_SHAPE_SHARED_  1u /* messages are staged in shared memory */
#define GYRE_SHAPE_DENSE_   2u
#define GYRE_SHAPE_BLOCK_   4u
#define GYRE_SHAPE_ACTOR_   8u
#define GYRE_SHAPE_WORKERS_ 16u  /* a block is several workers */
#define GYRE_SHAPE_GRID_    128u /* a grid kernel; with GYRE_SHAPE_BLOCK_ */
#define GYRE_SHAPE_LINES_   32u  /* a queue that a block has for itself goes the way of cuda_lines.h */

/* kernels that may take one message at once, where handlers are slow */
#if GYRE_KEYED
#define GYRE_SHAPE_KEYED_ 64u /* a keyed actor */
#define GYRE_SHAPE_FEW_   (GYRE_SHAPE_BLOCK_ | GYRE_SHAPE_KEYED_)
#else
#define GYRE_SHAPE_FEW_ GYRE_SHAPE_BLOCK_
#endif

/** A worker (a group of warps, or the block) and its run: `count` requests from index `first` on. */
struct gyre_worker {
    gyre_chunk *cells; /* the worker's part of the stage */
    gyre_u64 first, drop_before;
    gyre_u32 count;
    gyre_u32 which;   /* the queue's number in served[] */
    gyre_u32 wide;    /* there may be a backlog: look far ahead */
    gyre_u32 parity;  /* the phase of `barrier` */
    gyre_u64 barrier; /* counts bytes that arrive in the stage */
    /*
     * Where replies are stored back to back: the position of the first reply; whether some replies are longer than
     * their slots; whether the one reply goes to the spare place.
     */
    gyre_u64 position;
    gyre_u16 long_replies, spare;
    gyre_u32 lone; /* a GYRE_LONE_: the run is one message that takes the short way (cuda_lone.h); else 0 */
    /*
     * If blocks share the queue and this worker's last looks found nothing: gyre_seeker_.phase, handed from the long
     * way to the short way; else 0.
     */
    gyre_u32 kept_phase;
};

/** The words that the threads of a block share: one struct for each block, in shared memory. */
struct gyre_block_view {
    gyre_u64 order, command, drop_before;
    gyre_cuda_cursor *cursors;
    const gyre_cuda_relay *relay;
    const gyre_u64 *order_word; /* where another order shows: the host's word, or the relay's */
    gyre_u64 live;              /* in block 0, while it reads the table: rows that hold queues */
    gyre_u64 asked;             /* the clock when the block last looked for an order, busy or resting */
    gyre_u64 handled, failed;
    gyre_u32 queue_count; /* entries of served[] */
    gyre_u32 team_size;   /* blocks that share each queue; 1: no other block does */
    gyre_u32 team_leader; /* this block looks for requests of a shared queue */
    gyre_u32 first_bad;   /* the first slot of a window that is not filled */
    gyre_u32 rows_ahead;  /* rows behind a window that are filled */
    gyre_u32 next_queue;  /* where polling begins */
    gyre_u32 go;          /* why polling ended: 1 + served index of a backlog, or GYRE_GO_ORDER */
    gyre_u32 telling;     /* one thread writes the counts to the host */
    gyre_u64 told;        /* the value of `handled` that the host was told */
    gyre_u32 posted;      /* a bit for each worker: its replies wait for a fence */
    gyre_u32 finished;    /* a bit for each worker: its replies are with the host */
    gyre_u32 posting;     /* a worker makes the fence */
    gyre_shape shape;
    gyre_u32 staged;  /* queues are served through the stage */
    void *near_state; /* the state of shape.state_bytes */
    gyre_stage_place stage;
    gyre_worker workers[GYRE_CUDA_WORKERS_MAX];
    gyre_served served[GYRE_QUEUES_MAX];
#if GYRE_KEYED
    gyre_u32 routers,
        owners; /* blocks that route messages, and blocks that handle them (cuda_keyed_routes.h); 0: none */
    gyre_u32 by_ticks; /* keys are reminded by the times that the host announces */
    gyre_i64
        wake_ns; /* when the block reminds a key: no key of it is due before. GYRE_NEVER_WOKEN_: nobody waits */
    gyre_i64 told_due; /* of that, what the host was told */
#endif
};
#define GYRE_NEVER_WOKEN_  ((gyre_i64)0x7fffffffffffffff)
#define GYRE_NO_TIME_      (-GYRE_NEVER_WOKEN_ - 1)
#define GYRE_GO_ORDER      0xffffffffu
#define GYRE_LONE_FETCHED_ 1u /* the copy into the request's cell was started */
#define GYRE_LONE_HERE_    2u /* the request came by express lines, and is in its cell */
#define GYRE_LONE_AWAITED_ 3u /* as HERE, and the reply goes by express lines */
#if GYRE_STANDS_SOON
#define GYRE_CUDA_LOOK_CLOCKS 8000
#else
#define GYRE_CUDA_LOOK_CLOCKS 40000 /* clocks between two looks of a busy block at the host's words */
#endif
#define GYRE_CUDA_TURN_SHIFT                                                                                 \
    18 /* 2 to this power: clocks after which a busy queue lets the block's others in */

/*
 * Whether a block that found a queue busy at the clocks `before` and `now` turns to its other queues: a queue in which there is always a
 * further request would keep them waiting for ever. Not with each run, because a look at an idle queue takes a microsecond.
 */
GYRE_HELPER gyre_u32 gyre_is_others_turn_(const gyre_block_view *view, gyre_u64 before, gyre_u64 now)
{
    return view->queue_count > 1 && before >> GYRE_CUDA_TURN_SHIFT != now >> GYRE_CUDA_TURN_SHIFT;
}

GYRE_HELPER gyre_u32 gyre_queue_after_(const gyre_block_view *view, gyre_u32 which)
{
    return which + 1 < view->queue_count ? which + 1 : 0;
}

GYRE_HELPER const gyre_slot *gyre_request_at_(const gyre_served *queue, gyre_u64 index)
{
    return (const gyre_slot *)(queue->requests + (index & queue->mask) * queue->request_stride);
}

GYRE_HELPER gyre_slot *gyre_reply_at_(const gyre_served *queue, gyre_u64 index)
{
    return (gyre_slot *)(queue->replies + (index & queue->mask) * queue->reply_stride);
}

#if GYRE_KEYED
/*
 * The time up to which keys may be reminded. By ticks: that of the last tick, once all requests are taken that may have been sent before
 * it; GYRE_NO_TIME_: there was none. The index of a tick is written before its time. Called seldom: no part of its callers, which need
 * their registers.
 */
static __device__ __noinline__ gyre_i64 gyre_wake_clock_(const gyre_block_view *view)
{
    gyre_i64 now_ns = GYRE_NO_TIME_;
    if (!view->by_ticks)
        return (gyre_i64)gyre_time_ns(0);
#pragma unroll 1
    for (gyre_u32 i = 0; i < view->queue_count; i++) {
        const gyre_served *queue = &view->served[i];
        const gyre_queue_host *none = 0;
        const gyre_queue_host *host =
            (const gyre_queue_host *)((const gyre_u8 *)queue->drop_before - (gyre_u64)&none->drop_before);
        const gyre_u64 tick_ns = gyre_word_load_(&host->tick_ns);
        gyre_fence_system_(); /* pairs with the host's release: the index is that of this tick, or of a later one */
        if (tick_ns && (gyre_i64)(queue->own.next - gyre_word_load_(&host->tick_index)) >= 0)
            now_ns = (gyre_i64)tick_ns;
    }
    return now_ns;
}

/* Whether the block has to remind a key. */
GYRE_HELPER int gyre_is_woken_(const gyre_block_view *view)
{
    const gyre_i64 wake_ns = *(volatile const gyre_i64 *)&view->wake_ns;
    return wake_ns != GYRE_NEVER_WOKEN_ && gyre_wake_clock_(view) >= wake_ns;
}
#define GYRE_IS_WOKEN_(view) gyre_is_woken_(view)
#else
#define GYRE_IS_WOKEN_(view) 0
#endif

/* Whether there is another order. Also true when a keyed actor that waits for messages has to remind a key (cuda_keyed_reminders.h). */
GYRE_HELPER int gyre_order_changed_(const gyre_block_view *view)
{
    return GYRE_IS_WOKEN_(view) || gyre_word_load_(view->order_word) != view->order;
}

GYRE_HELPER void gyre_count_served_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    gyre_control_block *line = (gyre_control_block *)(arguments.control + 1) + blockIdx.x;
    gyre_word_store_(&line->handled, view->handled);
    gyre_word_store_(&line->failed, view->failed);
}

/*
 * Returns the word in which a worker, or a polling warp, notes its run, for the host when it wonders why no reply
 * comes. The word lies in the device's own memory and is stored once a run. These stores order no other stores, so
 * they hold nothing up.
 */
GYRE_HELPER gyre_u32 *gyre_turn_(const gyre_cuda_arguments &arguments, gyre_u32 worker)
{
    return &arguments.turns[blockIdx.x].of[worker];
}

GYRE_HELPER void gyre_turn_tell_(gyre_u32 *turn, gyre_u32 what)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0],%1;" ::"l"(turn), "r"(what));
}

/*
 * Notes a run by the clock: its number differs from the run before, even if runs of two queues begin at the same
 * index.
 */
GYRE_HELPER void gyre_turn_begins_(gyre_u32 *turn)
{
    gyre_turn_tell_(turn, (gyre_u32)clock64() | 1);
}

GYRE_HELPER void gyre_turn_ends_(gyre_u32 *turn)
{
    gyre_turn_tell_(turn, 0);
}

/* Bytes of dynamic shared memory of the block. */
GYRE_HELPER gyre_u32 gyre_dynamic_size_()
{
    gyre_u32 size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return size;
}

/*
 * Headers of other programs' messages are copied: by GYRE_HEADER_TAKE_ for one thread, by GYRE_HEADER_TAKE_TO_ to where the caller
 * keeps it, by GYRE_HEADER_SHARE_ for a block.
 */
#if GYRE_HEADED
#define GYRE_HEADER_FOREIGN_(gyre, foreign_) ((gyre)->foreign = (foreign_), (gyre)->header_taken = 0)
GYRE_HELPER void gyre_header_take_(gyre_context *gyre, gyre_u64 index, gyre_u64 *copy)
{
    GYRE_HEADER_AT_(gyre, index);
    gyre->header_taken = 0;
    if (!gyre->header || !gyre->foreign)
        return;
#pragma unroll
    for (gyre_u32 i = 0; i < 8; i++)
        copy[i] = i < gyre->header_size / 8 ? gyre_header_u64_(gyre->header + 8 * i) : 0;
    gyre->header_taken = copy;
}

GYRE_HELPER void gyre_header_share_(gyre_context *gyre, gyre_u64 index)
{
    GYRE_HEADER_AT_(gyre, index);
    gyre->header_taken = 0;
    if (!gyre->header || !gyre->foreign)
        return;
    for (gyre_u32 i = gyre->lane; i < gyre->header_size / 8; i += gyre->lane_count)
        gyre->shared->header[i] = gyre_header_u64_(gyre->header + 8 * i);
    gyre->header_taken = gyre->shared->header;
}
#define GYRE_HEADER_TAKE_(gyre, index_)                                                                      \
    gyre_u64 header_copy_[8];                                                                                \
    gyre_header_take_((gyre), (index_), header_copy_)
#define GYRE_HEADER_TAKE_TO_(gyre, index_, copy_) gyre_header_take_((gyre), (index_), (copy_))
#define GYRE_HEADER_SHARE_(gyre, index_)          gyre_header_share_((gyre), (index_))
#else
#define GYRE_HEADER_FOREIGN_(gyre, foreign_)      ((void)0)
#define GYRE_HEADER_TAKE_(gyre, index_)           ((void)0)
#define GYRE_HEADER_TAKE_TO_(gyre, index_, copy_) ((void)0)
#define GYRE_HEADER_SHARE_(gyre, index_)          ((void)0)
#endif

#include "gyre/dialect/cuda_times.h"

/** Makes one lane's context; `shared` is NULL in lane kernels. */
GYRE_HELPER void gyre_context_make_(gyre_context *gyre, const gyre_cuda_arguments &arguments,
                                    gyre_block_shared *shared)
{
    gyre_place_(gyre);
    gyre->in_block = shared != 0;
#if GYRE_GRID
    gyre->grid = 0;
#endif
    gyre->barrier_turn = 0;
    gyre->failed = 0;
    gyre->fail_code = 0;
    gyre->fail_text = "";
    gyre->time_ns = 0;
    gyre->log = arguments.log;
    gyre->shared = shared;
    gyre->handles = GYRE_CONTROL_HANDLES(arguments.control, gridDim.x);
#if GYRE_STAGE
    gyre->clears = 0;
    gyre->origin = gyre->index = 0;
    gyre->entry = 0;
    gyre->ports = 0;
#endif
    GYRE_HEADER_QUEUE_(gyre, 0, 0, 0);
    GYRE_HEADER_FOREIGN_(gyre, 0);
    GYRE_TIMES_BEGIN_(gyre, arguments);
}

#include "gyre/dialect/cuda_seal.h"

/* Called before messages of a queue are handled. */
#define GYRE_QUEUE_BEGIN_(gyre, queue)                                                                       \
    (GYRE_STAMP_QUEUE_(gyre, queue), gyre_seal_queue_(gyre, queue),                                          \
     GYRE_HEADER_QUEUE_(gyre, (queue)->headers, (queue)->header_size, (queue)->mask),                        \
     GYRE_HEADER_FOREIGN_(gyre, (queue)->kind & GYRE_KIND_FOREIGN_))

/* ---- parts ---- */

/*
 * Begins a launch: takes up the counts of the launch before. `near_state` is shared memory, if the shape says so.
 * Called by all threads.
 */
GYRE_PART_ void gyre_arrive_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_shape shape,
                             void *near_state);

/*
 * Puts away the words of the served queues, and takes up orders until an order says that the block is to serve queues.
 * Returns 0 when the kernel is to leave, GYRE_SEAT_LINES_ when the block is to serve its queues by gyre_serve_lines_,
 * otherwise the thread's seat: its worker, and its number in the worker. Called by all threads.
 */
GYRE_PART_ gyre_u32 gyre_next_order_(const gyre_cuda_arguments &arguments, gyre_block_view *view);
#define GYRE_SEAT_LINES_           0xffffffffu
#define GYRE_SEAT_(worker, thread) ((worker) << 16 | ((thread) + 1))
#define GYRE_SEAT_WORKER_(seat)    ((seat) >> 16)
#define GYRE_SEAT_THREAD_(seat)    (((seat)&0xffffu) - 1)

/*
 * Waits for requests and fetches them into the worker's cells; the worker's entry of view->workers describes them.
 * Returns 0 at another order. Called by all threads of a worker of `threads` threads.
 */
GYRE_PART_ int gyre_next_run_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_chunk *cells,
                              gyre_u32 threads);
/*
 * Writes, except for the sequence, why a request does not get to the handler: it was dropped, or else has a wrong
 * length. Called by one thread.
 */
GYRE_PART_ void gyre_refuse_(gyre_slot *out, gyre_u32 dropped);
/* Delivers the run's replies and counts them. `failed`: how many of them are failures from this thread. */
GYRE_PART_ void gyre_end_run_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u32 threads,
                              gyre_u32 failed);

#ifndef GYRE_CUDA_LINKED
#include "gyre/dialect/cuda_seek.h"
#include "gyre/dialect/cuda_move.h"
#include "gyre/dialect/cuda_turn.h"
#include "gyre/dialect/cuda_control.h"
#include "gyre/dialect/cuda_order.h"
#endif
#include "gyre/dialect/cuda_lines.h"
#include "gyre/dialect/cuda_stage.h"
#if GYRE_STAGE
#include "gyre/dialect/cuda_links.h"
#endif

/* ---- entries ---- */

#define GYRE_RESIDENT_BIND_(buffers_, bound_to_)                                                             \
    buffers_ bound_to_;                                                                                      \
    gyre_bound gyre_its_bound_[sizeof(buffers_) / sizeof(gyre_bound) + 1]; /* gyre_none is smaller */        \
    for (int gyre_its_binding_ = 0; gyre_its_binding_ < (int)(sizeof(buffers_) / sizeof(gyre_bound));        \
         gyre_its_binding_++) {                                                                              \
        gyre_its_bound_[gyre_its_binding_].data =                                                            \
            (void *)gyre_its_arguments_.bindings[gyre_its_binding_].address;                                 \
        gyre_its_bound_[gyre_its_binding_].count = gyre_its_arguments_.bindings[gyre_its_binding_].count;    \
    }                                                                                                        \
    gyre_bind_##buffers_(&bound_to_, gyre_its_bound_);

/* What the traits of a stage have besides: its ports. The mark says that the kernel can be a stage. */
#if GYRE_STAGE
#define GYRE_STAGE_TRAITS_(ports_)                                                                           \
    enum { gyre_its_port_count_ = gyre_ports_of_##ports_ };                                                  \
    typedef gyre_port_types_of_##ports_ gyre_its_ports_;
#if GYRE_ASKS
#define GYRE_ASKS_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_asks_##name_, "asks")
#else
#define GYRE_ASKS_MARK_(name_)
#endif
#if GYRE_POOLS
#define GYRE_POOLS_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_pools_##name_, "pools")
#else
#define GYRE_POOLS_MARK_(name_)
#endif
#if GYRE_ROUNDS
#define GYRE_ROUNDS_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_rounds_##name_, "rounds")
#else
#define GYRE_ROUNDS_MARK_(name_)
#endif
#if GYRE_LEVELS
#define GYRE_LEVELS_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_levels_##name_, "levels")
#else
#define GYRE_LEVELS_MARK_(name_)
#endif
#if GYRE_CHOICES
#define GYRE_CHOICES_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_choices_##name_, "choices")
#else
#define GYRE_CHOICES_MARK_(name_)
#endif
#if GYRE_LIMITED && (GYRE_ASKS || GYRE_POOLS || GYRE_LEVELS || GYRE_CHOICES)
#define GYRE_STAGE_MARK_(name_)                                                                              \
    GYRE_EXPORTED_TEXT_(gyre_stage_##name_, "stage")                                                         \
    GYRE_EXPORTED_TEXT_(gyre_limited_##name_, "limited")                                                     \
    GYRE_ASKS_MARK_(name_)                                                                                   \
    GYRE_POOLS_MARK_(name_) GYRE_ROUNDS_MARK_(name_) GYRE_LEVELS_MARK_(name_) GYRE_CHOICES_MARK_(name_)
#elif GYRE_LIMITED
#define GYRE_STAGE_MARK_(name_)                                                                              \
    GYRE_EXPORTED_TEXT_(gyre_stage_##name_, "stage")                                                         \
    GYRE_EXPORTED_TEXT_(gyre_limited_##name_, "limited")
#else
#define GYRE_STAGE_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_stage_##name_, "stage")
#endif
#else
#define GYRE_STAGE_TRAITS_(ports_)
#define GYRE_STAGE_MARK_(name_)
#endif

GYRE_HELPER constexpr bool gyre_is_none_(const gyre_none *)
{
    return true;
}
GYRE_HELPER constexpr bool gyre_is_none_(const void *)
{
    return false;
}

/*
 * A kernel's traits for the templates: its sizes, whether it has a state or buffers (memory), and its handler behind one signature. The names here hide no type of
 * a message, whatever its name. What follows `stage_` goes to the handler as well.
 */
#define GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_, stage_, ...)         \
    struct gyre_traits_of_##name_ {                                                                            \
        stage_ enum {                                                                                          \
            gyre_its_kernel_form_ = form_,                                                                     \
            gyre_its_request_size_ = gyre_size_##request_,                                                     \
            gyre_its_request_least_ = gyre_least_##request_,                                                   \
            gyre_its_reply_size_ = gyre_size_##reply_,                                                         \
            gyre_its_reply_least_ = gyre_least_##reply_,                                                       \
            gyre_its_scratch_size_ = GYRE_SCRATCH_SIZE_(scratch_),                                             \
            gyre_its_state_size_ = sizeof(state_),                                                             \
            gyre_its_memory_ = !gyre_is_none_((state_ *)0) || sizeof(buffers_) > sizeof(gyre_none)             \
        };                                                                                                     \
        static __device__ __forceinline__ int                                                                  \
        gyre_its_handle_(const void *gyre_its_in_, void *gyre_its_out_, void *gyre_its_state_there_,           \
                         void *gyre_its_scratch_there_, const void *gyre_its_bound_there_,                     \
                         gyre_context *gyre_its_context_)                                                      \
        {                                                                                                      \
            if (sizeof(buffers_) > sizeof(gyre_none))                                                          \
                gyre_mark_buffers_(gyre_its_bound_there_);                                                     \
            if (!gyre_admit_##request_(gyre_its_context_, (const request_ *)gyre_its_in_))                     \
                return GYRE_FAILED;                                                                            \
            if (!GYRE_FORM_SHARES_(form_) ||                                                                   \
                (gyre_its_context_->lane == 0 && (form_ != 5 || gyre_its_context_->block == 0)))               \
                gyre_clear_##reply_((reply_ *)gyre_its_out_);                                                  \
            if (form_ == 5 && (int)gyre_size_##reply_ != (int)gyre_least_##reply_)                             \
                GYRE_GRID_CLEARED_(gyre_its_context_);                                                         \
            return gyre_result_(                                                                               \
                gyre_its_context_,                                                                             \
                gyre_handler_##name_((const request_ *)gyre_its_in_, (reply_ *)gyre_its_out_,                  \
                                     (state_ *)gyre_its_state_there_, (scratch_ *)gyre_its_scratch_there_,     \
                                     (const buffers_ *)gyre_its_bound_there_,                                  \
                                     gyre_its_context_ __VA_ARGS__));                                          \
        }                                                                                                      \
        /* A request that lies in registers; the reply takes its place. Copies, so that types are not        \
         * punned. */ \
        static __device__ __forceinline__ int gyre_its_handle_chunks_(gyre_chunk *gyre_its_chunks_,            \
                                                                      void *gyre_its_state_there_,             \
                                                                      const void *gyre_its_bound_there_,       \
                                                                      gyre_context *gyre_its_context_)         \
        {                                                                                                      \
            request_ gyre_its_in_;                                                                             \
            reply_ gyre_its_out_;                                                                              \
            memcpy(&gyre_its_in_, gyre_its_chunks_, sizeof gyre_its_in_);                                      \
            memset(&gyre_its_out_, 0, sizeof gyre_its_out_); /* unwritten bytes and padding go out too */      \
            const int gyre_its_result_there_ =                                                                 \
                gyre_its_handle_(&gyre_its_in_, &gyre_its_out_, gyre_its_state_there_, 0,                      \
                                 gyre_its_bound_there_, gyre_its_context_);                                    \
            memcpy(gyre_its_chunks_, &gyre_its_out_, sizeof gyre_its_out_);                                    \
            return gyre_its_result_there_;                                                                     \
        }                                                                                                      \
        static __device__ __forceinline__ void                                                                 \
        gyre_its_reside_(const gyre_cuda_arguments &gyre_its_arguments_)                                       \
        {                                                                                                      \
            GYRE_RESIDENT_BIND_(buffers_, gyre_its_buffers_)                                                   \
            gyre_reside_<gyre_traits_of_##name_>(gyre_its_arguments_, &gyre_its_buffers_);                     \
        }                                                                                                      \
    };

#define GYRE_ENTRY_(threads_, name_)                                                                         \
    GYRE_STAGE_MARK_(name_)                                                                                  \
    extern "C" __global__ void __launch_bounds__(threads_, 1)                                                \
        gyre_resident_##name_(const __grid_constant__ gyre_cuda_arguments gyre_its_arguments_)               \
    {                                                                                                        \
        gyre_traits_of_##name_::gyre_its_reside_(gyre_its_arguments_);                                       \
    }

#define GYRE_ENTRY_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                         \
    GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_,                        \
                          GYRE_STAGE_TRAITS_(gyre_no_ports))                                                 \
    GYRE_ENTRY_(GYRE_CUDA_LANES_MAX, name_)
#define GYRE_ENTRY_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_,                        \
                          GYRE_STAGE_TRAITS_(gyre_no_ports))                                                 \
    GYRE_ENTRY_((form_) == 5 ? GYRE_CUDA_GRID_LANES_MAX : 1024, name_)
#define GYRE_ENTRY_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)              \
    GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_,                        \
                          GYRE_STAGE_TRAITS_(ports_), , (ports_ *)gyre_its_context_->ports)                  \
    GYRE_ENTRY_(GYRE_CUDA_LANES_MAX, name_)
#define GYRE_ENTRY_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)             \
    GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_,                        \
                          GYRE_STAGE_TRAITS_(ports_), , (ports_ *)gyre_its_context_->ports)                  \
    GYRE_ENTRY_((form_) == 5 ? GYRE_CUDA_GRID_LANES_MAX : 1024, name_)

#if GYRE_KEYED
#include "gyre/dialect/cuda_keyed.h"
#endif

#endif
