/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resident entry of CUDA kernels: a loop that obeys orders, polls rings in mapped host memory, and feeds
 * the handler, until it is told to leave. Takes the place of batch_entry.h (GYRE_ENTRY_HEADER); the ways to
 * serve a queue are in cuda_lines.h (messages of one line) and cuda_stage.h (larger ones, and block kernels).
 *
 * Memory: rings and control words are host memory across PCIe. They are read and written only by the
 * functions of this file, which bypass the caches (relaxed, system scope). A line of 64 bytes that one warp
 * instruction reads or writes whole crosses the bus as one transaction, so its sequence and its payload
 * arrive together; docs/backends/cuda.md.
 */
#ifndef GYRE_DIALECT_CUDA_RESIDENT_H
#define GYRE_DIALECT_CUDA_RESIDENT_H

#include "gyre/dialect/cuda_module.h"

/* ---- memory across the bus ---- */

/** A quarter of a line: what one thread moves at once. */
struct gyre_chunk {
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

GYRE_HELPER void gyre_word_store_(gyre_u64 *to, gyre_u64 value)
{
    asm volatile("st.relaxed.sys.global.u64 [%0],%1;" ::"l"(to), "l"(value) : "memory");
}

/* Everything before it, of this thread and of those it met at a barrier, is visible to the host before what
 * follows. */
GYRE_HELPER void gyre_fence_system_(void)
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

GYRE_HELPER void gyre_rest_(gyre_u32 nanoseconds)
{
    if (nanoseconds)
        asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

/* ---- a block's view ---- */

/** A queue that this block serves. */
struct gyre_served {
    const gyre_u8 *requests;
    gyre_u8 *replies;
    gyre_u64 *drop_before; /* of the host, 0 while nothing was ever dropped is the common value */
    gyre_u64 mask, next;
    gyre_u32 request_stride, reply_stride;
    gyre_u32 entry; /* of the table */
};

/** What the threads of a block share; one a block, in shared memory. */
struct gyre_block_view {
    gyre_u64 order, command, drop_before;
    gyre_u64 handled, failed;
    gyre_u32 queue_count; /* of served[] */
    gyre_u32 team_size;   /* blocks that share each of them; 1: this one alone */
    gyre_u32 team_leader; /* this block looks for requests of a shared queue */
    gyre_u32 first_bad;   /* of a window: the first slot that is not there */
    gyre_u32 go;          /* why polling ended: 1 + served index of a backlog, or GYRE_GO_ORDER */
    gyre_u32 count;
    gyre_u32 eager; /* there was a backlog: look for as many as a window holds */
    gyre_u64 claimed;
    gyre_served served[GYRE_QUEUES_MAX];
};
#define GYRE_GO_ORDER 0xffffffffu

GYRE_HELPER const gyre_slot *gyre_request_at_(const gyre_served *queue, gyre_u64 index)
{
    return (const gyre_slot *)(queue->requests + (index & queue->mask) * queue->request_stride);
}

GYRE_HELPER gyre_slot *gyre_reply_at_(const gyre_served *queue, gyre_u64 index)
{
    return (gyre_slot *)(queue->replies + (index & queue->mask) * queue->reply_stride);
}

GYRE_HELPER int gyre_order_changed_(const gyre_resident_arguments &arguments, const gyre_block_view *view)
{
    return gyre_word_load_(&arguments.orders->order) != view->order;
}

/* Reads one entry of the queue table into the view, when this block has a part in it. By one thread. */
GYRE_HELPER void gyre_take_queue_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                  gyre_u32 entry)
{
    gyre_control_queue *row = &arguments.control->queues[entry];
    const gyre_u64 address = gyre_word_load_(&row->address);
    if (!address)
        return;
    gyre_fence_system_(); /* the address is stored last: the rest of the row is there */
    const gyre_u64 serial = gyre_word_load_(&row->serial), first = gyre_word_load_(&row->first);
    gyre_queue_region *region = (gyre_queue_region *)address;
    gyre_cuda_cursor *cursor = &arguments.cursors[entry];
    gyre_served *served = &view->served[view->queue_count++];
    if (cursor->serial != serial && view->team_leader) {
        cursor->next = first;
        cursor->ready = first;
        __threadfence();
        cursor->serial = serial;
    }
    served->entry = entry;
    served->next = cursor->serial == serial ? cursor->next : first;
    served->mask = gyre_word_load_(&region->shape.capacity) - 1;
    served->requests = (const gyre_u8 *)region + gyre_word_load_(&region->shape.request_offset);
    served->replies = (gyre_u8 *)region + gyre_word_load_(&region->shape.reply_offset);
    served->request_stride = gyre_half_load_(&region->shape.request_stride);
    served->reply_stride = gyre_half_load_(&region->shape.reply_stride);
    served->drop_before = &region->host.drop_before;
}

/*
 * Which queues are this block's: with as many queues as blocks or more, every so-many-th alone; with more
 * blocks than queues, one, together with the other blocks of its team. By one thread.
 */
GYRE_HELPER void gyre_read_table_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    const gyre_u32 rows = gyre_half_load_(&arguments.control->command.queue_count);
    const gyre_u32 block = blockIdx.x, blocks = gridDim.x;
    gyre_u32 live = 0, number = 0;
    for (gyre_u32 entry = 0; entry < rows; entry++)
        live += gyre_word_load_(&arguments.control->queues[entry].address) != 0;
    view->queue_count = 0;
    view->team_size = 1;
    view->team_leader = 1;
    if (live == 0)
        return;
    if (live < blocks) {
        const gyre_u32 mine = block % live;
        view->team_size = (blocks - mine + live - 1) / live;
        view->team_leader = block < live;
    }
    for (gyre_u32 entry = 0; entry < rows; entry++) {
        if (gyre_word_load_(&arguments.control->queues[entry].address) == 0)
            continue;
        if (live < blocks ? number == block % live : number % blocks == block)
            gyre_take_queue_(arguments, view, entry);
        number++;
    }
}

/* Positions into device memory, for this launch's end or for another share of the queues. By one thread. */
GYRE_HELPER void gyre_save_cursors_(const gyre_resident_arguments &arguments, const gyre_block_view *view)
{
    for (gyre_u32 i = 0; i < view->queue_count && view->team_size == 1; i++)
        arguments.cursors[view->served[i].entry].next = arguments.cursors[view->served[i].entry].ready =
            view->served[i].next;
    __threadfence();
}

GYRE_HELPER void gyre_count_served_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    gyre_control_block *line = (gyre_control_block *)(arguments.control + 1) + blockIdx.x;
    gyre_word_store_(&line->handled, view->handled);
    gyre_word_store_(&line->failed, view->failed);
}

/*
 * Waits until every block has taken up this order or a later one, and so has left its positions in the
 * cursors: only then may the queues be shared out anew. All threads of the block; all blocks are resident.
 */
GYRE_HELPER void gyre_await_blocks_(const gyre_resident_arguments &arguments, const gyre_block_view *view)
{
    for (gyre_u32 block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
        gyre_u64 order;
        do {
            asm volatile("ld.acquire.gpu.global.u64 %0,[%1];"
                         : "=l"(order)
                         : "l"(&arguments.arrived[block])
                         : "memory");
        } while (order < view->order);
    }
    __syncthreads();
}

/*
 * Takes up the latest order. Returns the verb to act on, or 0: leave. All threads; the view is ready
 * afterwards.
 */
GYRE_HELPER gyre_u32 gyre_obey_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        gyre_save_cursors_(arguments, view);
        gyre_count_served_(arguments, view);
        view->order = gyre_word_load_(&arguments.orders->order);
        gyre_fence_system_(); /* the command is at least as new as the order */
        view->command = gyre_word_load_(&arguments.control->command.command);
        const gyre_u64 arrived = view->order & GYRE_ORDER_LEAVE ? ~0ull : view->order;
        asm volatile("st.release.gpu.global.u64 [%0],%1;" ::"l"(&arguments.arrived[blockIdx.x]), "l"(arrived)
                     : "memory");
    }
    __syncthreads();
    return view->order & GYRE_ORDER_LEAVE ? 0 : (gyre_u32)GYRE_COMMAND_VERB(view->command);
}

GYRE_HELPER void gyre_acknowledge_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    gyre_control_block *line = (gyre_control_block *)(arguments.control + 1) + blockIdx.x;
    gyre_fence_system_();
    gyre_word_store_(&line->acknowledged, view->command);
}

/** One lane's context; `shared` is NULL in lane kernels. */
GYRE_HELPER void gyre_context_make_(gyre_context *gyre, const gyre_resident_arguments &arguments,
                                    gyre_block_shared *shared)
{
    gyre_place_(gyre);
    gyre->in_block = shared != 0;
    gyre->barrier_turn = 0;
    gyre->failed = 0;
    gyre->fail_code = 0;
    gyre->fail_text = "";
    gyre->time_ns = 0;
    gyre->log = arguments.log;
    gyre->shared = shared;
    gyre->handles = GYRE_CONTROL_HANDLES(arguments.control, gridDim.x);
}

#include "gyre/dialect/cuda_lines.h"
#include "gyre/dialect/cuda_stage.h"

/*
 * The loop of every form. K says what the kernel is (form, sizes) and how to call its handler; `serve`
 * returns when the order changed.
 */
template <class K> GYRE_HELPER void gyre_reside_(const gyre_resident_arguments &arguments)
{
    extern __shared__ gyre_chunk gyre_dynamic_memory_[];
    __shared__ gyre_block_view view;
    if (threadIdx.x == 0) {
        const gyre_control_block *line = (const gyre_control_block *)(arguments.control + 1) + blockIdx.x;
        view.queue_count = 0;
        view.team_size = view.team_leader = 1;
        view.handled = gyre_word_load_(&line->handled);
        view.failed = gyre_word_load_(&line->failed);
    }
    for (;;) {
        const gyre_u32 verb = gyre_obey_(arguments, &view);
        if (verb == 0)
            return;
        if (verb == GYRE_VERB_RUN)
            gyre_await_blocks_(arguments, &view);
        if (threadIdx.x == 0) {
            if (verb == GYRE_VERB_RUN)
                gyre_read_table_(arguments, &view);
            gyre_acknowledge_(arguments, &view);
        }
        __syncthreads();
        if (verb == GYRE_VERB_STOP || verb == GYRE_VERB_YIELD)
            return;
        if (verb == GYRE_VERB_RUN && view.queue_count > 0)
            K::serve(arguments, &view, gyre_dynamic_memory_);
        else if (threadIdx.x == 0)
            while (!gyre_order_changed_(arguments, &view))
                gyre_rest_(2000);
    }
}

/* ---- entries ---- */

#define GYRE_RESIDENT_BIND_(buffers_, bound_to_)                                                             \
    buffers_ bound_to_;                                                                                      \
    gyre_bound bound[GYRE_BINDINGS_MAX];                                                                     \
    for (int binding = 0; binding < GYRE_BINDINGS_MAX; binding++) {                                          \
        bound[binding].data = (void *)arguments.bindings[binding].address;                                   \
        bound[binding].count = arguments.bindings[binding].count;                                            \
    }                                                                                                        \
    gyre_bind_##buffers_(&bound_to_, bound);

/* What the templates know of a kernel: its sizes, and its handler behind one signature. */
#define GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_, serve_)            \
    struct gyre_resident_kernel_##name_ {                                                                    \
        enum {                                                                                               \
            form = form_,                                                                                    \
            request_size = gyre_size_##request_,                                                             \
            reply_size = gyre_size_##reply_,                                                                 \
            scratch_size = gyre_size_##scratch_                                                              \
        };                                                                                                   \
        static __device__ __forceinline__ int handle(const void *request, void *reply, void *state,          \
                                                     void *scratch, const void *buffers, gyre_context *gyre) \
        {                                                                                                    \
            return gyre_result_(gyre, gyre_handler_##name_((const request_ *)request, (reply_ *)reply,       \
                                                           (state_ *)state, (scratch_ *)scratch,             \
                                                           (const buffers_ *)buffers, gyre));                \
        }                                                                                                    \
        /* A request that lies in registers; the reply takes its place. Copies, so that types are not        \
         * punned. */                                                                                        \
        static __device__ __forceinline__ int handle_chunks(gyre_chunk *chunks, void *state,                 \
                                                            const void *buffers, gyre_context *gyre)         \
        {                                                                                                    \
            request_ request;                                                                                \
            reply_ reply;                                                                                    \
            memcpy(&request, chunks, sizeof request);                                                        \
            const int result = handle(&request, &reply, state, 0, buffers, gyre);                            \
            memcpy(chunks, &reply, sizeof reply);                                                            \
            return result;                                                                                   \
        }                                                                                                    \
        static __device__ __forceinline__ void serve(const gyre_resident_arguments &arguments,               \
                                                     gyre_block_view *view, gyre_chunk *memory)              \
        {                                                                                                    \
            GYRE_RESIDENT_BIND_(buffers_, buffers)                                                           \
            serve_<gyre_resident_kernel_##name_>(arguments, view, memory, &buffers);                         \
        }                                                                                                    \
    };

#define GYRE_ENTRY_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                         \
    GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_, gyre_serve_lanes_)     \
    extern "C" __global__ void __launch_bounds__(GYRE_CUDA_LANES_MAX, 1)                                     \
        gyre_resident_##name_(const __grid_constant__ gyre_resident_arguments arguments)                     \
    {                                                                                                        \
        gyre_reside_<gyre_resident_kernel_##name_>(arguments);                                               \
    }

#define GYRE_ENTRY_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    GYRE_RESIDENT_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_, gyre_serve_block_)     \
    extern "C" __global__ void __launch_bounds__(1024, 1)                                                    \
        gyre_resident_##name_(const __grid_constant__ gyre_resident_arguments arguments)                     \
    {                                                                                                        \
        gyre_reside_<gyre_resident_kernel_##name_>(arguments);                                               \
    }

#endif
