/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors on CUDA: each block owns parts of the table (gyre/keyed_layout.h) and handles the messages of their keys. In files
 * that are compiled with GYRE_KEYED = 1. Included by cuda_resident.h.
 *
 * Block 0 alone reads the rings and writes replies: it fetches a run of messages (cuda_turn.h). With one block the run lies in
 * shared memory. Otherwise it lies in device memory, block 0 posts it to the other blocks, each block handles the messages whose keys
 * it owns, and block 0 delivers the run when all are done. So no message crosses the bus twice, and there is no lock.
 *
 * In a block, the first message of each part in the run names the thread that handles all of that part's, in the order of the ring. So
 * one thread at a time changes a part, keys come and leave in the same order as on the CPU, and a replay does what was done before.
 * Beforehand each thread fetches what the index says about the key of its message, for all of the run at once.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_H
#define GYRE_DIALECT_CUDA_KEYED_H

#define GYRE_CALLED_ GYRE_HELPER
#include "gyre/dialect/keyed_table.h"

/*
 * The least number of messages that a run is allowed to have, however slow the handler is. Tests on a GPU made of software, where
 * everything is slow, raise it.
 */
#ifndef GYRE_KEYED_LEAST
#define GYRE_KEYED_LEAST 1
#endif

/** What the threads of a block share about a run: of each message, its part, and the next message of the same part. */
struct gyre_keyed_run_ {
    gyre_u16 part[GYRE_KEYED_THREADS];
    gyre_u16 next[GYRE_KEYED_THREADS];
    gyre_u64 serial; /* of the post */
    gyre_u32 others; /* messages of the run that other blocks own */
    gyre_u32 there;  /* a run was posted */
};
#define GYRE_KEYED_NOT_OWN_ 0xffffu
#define GYRE_KEYED_SETTLED_ 0xfffeu /* the message does not get to the handler */

/** The hooks of a keyed actor that has none. */
struct gyre_keyed_no_hooks_ {
    enum { gyre_its_keys_leave_ = 0 };
    static __device__ __forceinline__ void gyre_its_born_(const void *, void *, gyre_context *)
    {
    }
    static __device__ __forceinline__ int gyre_its_leaves_(void *, gyre_context *)
    {
        return 0;
    }
};

/* ---- one message ---- */

/* Copies a message's key to where it begins at a multiple of 8 bytes. */
template <class K> GYRE_HELPER void gyre_keyed_key_(const void *request, gyre_u64 *key)
{
    const gyre_u8 *from = K::gyre_its_key_(request);
#pragma unroll
    for (gyre_u32 i = 0; i < K::gyre_its_key_words_; i++)
        key[i] = 0;
#pragma unroll
    for (gyre_u32 i = 0; i < K::gyre_its_key_size_; i++)
        key[i / 8] |= (gyre_u64)from[i] << (8 * (i % 8));
}

template <class K>
GYRE_HELPER int gyre_keyed_make_room_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                      gyre_context *gyre)
{
    typedef typename K::gyre_its_hooks_ hooks;
#pragma unroll 1
    for (gyre_u32 i = 0; hooks::gyre_its_keys_leave_ && i < GYRE_KEYED_LOOKS_; i++) {
        gyre_keyed_entry *entry = gyre_keyed_oldest_(table, part);
        if (hooks::gyre_its_leaves_(gyre_keyed_state(table, entry), gyre)) {
            gyre_keyed_remove_(table, part, entry);
            part->left++;
            return 1;
        }
        entry->used = ++part->clock;
    }
    return 0;
}

/* Finds or makes the state of the request's key. Returns 0 when the message failed. */
template <class K>
GYRE_HELPER int gyre_keyed_enter_(const gyre_keyed_table *table, const void *request, gyre_context *gyre,
                                  gyre_keyed_use_ *use)
{
    gyre_u64 key[K::gyre_its_key_words_];
    gyre_keyed_key_<K>(request, key);
    const gyre_u64 hash = gyre_keyed_hash(table, key);
    gyre_keyed_part *part = use->part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
    const gyre_u32 at = gyre_keyed_find(table, part, key, hash);
    use->is_new = at == GYRE_KEYED_NOWHERE;
    if (!use->is_new) {
        use->entry = gyre_keyed_entry_at(table, part, (gyre_u32)gyre_keyed_places(part)[at] - 1);
    } else {
        if (part->count == table->capacity && !gyre_keyed_make_room_<K>(table, part, gyre)) {
            gyre_fail_(gyre, GYRE_FAILURE_KEYS, "no room for another key: raise its `keys`");
            return 0;
        }
        use->entry = gyre_keyed_add_(table, part, key, hash);
        K::gyre_its_hooks_::gyre_its_born_(request, gyre_keyed_state(table, use->entry), gyre);
    }
    use->entry->used = ++part->clock;
    gyre->forgets = 0;
    return 1;
}

/** A keyed actor's traits, whose handler gets the table in place of a state. */
template <class K> struct gyre_keyed_of_ : K {
    static __device__ __forceinline__ int gyre_its_handle_(const void *in, void *out, void *table, void *,
                                                           const void *, gyre_context *gyre)
    {
        const gyre_keyed_table *const keys = (const gyre_keyed_table *)table;
        gyre_keyed_use_ use;
        if (!K::gyre_its_admit_(gyre, in)) /* before GYRE_BORN reads its parts */
            return GYRE_FAILED;
        if (!gyre_keyed_enter_<K>(keys, in, gyre, &use))
            return GYRE_FAILED;
        const int result = K::gyre_its_handle_(in, out, gyre_keyed_state(keys, use.entry), 0, 0, gyre);
        /* a key whose first message failed was not born: otherwise requests that are refused would fill the table */
        if (gyre->forgets || (use.is_new && gyre->failed))
            gyre_keyed_remove_(keys, use.part, use.entry);
        return result;
    }
};

/* ---- a run ---- */

/* Fetches what the handler of a key will read: the entry that the index names, as far as one place tells. */
GYRE_HELPER void gyre_keyed_fetch_(const gyre_keyed_table *table, gyre_u64 hash)
{
    gyre_keyed_part *part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
    const gyre_u64 place = gyre_near_load_(&gyre_keyed_places(part)[gyre_keyed_home(table, hash >> 32)]);
    if (place)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(gyre_keyed_entry_at(table, part, (gyre_u32)place - 1)));
}

/* The part of message `slot` of the run; NOT_OWN or SETTLED for one that this block's handler does not get. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_part_in_run_(const gyre_chunk *cells, gyre_u32 slot,
                                             const gyre_worker *worker, const gyre_keyed_table *table)
{
    const gyre_slot *in = (const gyre_slot *)(cells + slot * gyre_stage_<K>::cell);
    gyre_u64 key[K::gyre_its_key_words_];
    if (gyre_settle_<K>(in, 0, worker->first + slot, worker->drop_before, 0))
        return blockIdx.x == 0 ? GYRE_KEYED_SETTLED_ : GYRE_KEYED_NOT_OWN_;
    gyre_keyed_key_<K>(gyre_payload_(in), key);
    const gyre_u64 hash = gyre_keyed_hash(table, key);
    if (gyre_keyed_owner(table, hash, gridDim.x) != blockIdx.x)
        return GYRE_KEYED_NOT_OWN_;
    gyre_keyed_fetch_(table, hash);
    return gyre_keyed_part_of(table, hash);
}

/* Links message `slot` to the next one of its part. Returns 1 if it is the first one of its part. Called once all parts are there. */
GYRE_HELPER gyre_u32 gyre_keyed_link_(gyre_keyed_run_ *run, gyre_u32 slot, gyre_u32 count)
{
    const gyre_u16 mine = run->part[slot];
    gyre_u32 next = slot + 1, before = 0;
    if (mine == GYRE_KEYED_NOT_OWN_)
        return 0;
    while (mine != GYRE_KEYED_SETTLED_ && next < count && run->part[next] != mine)
        next++;
    run->next[slot] = (gyre_u16)(mine == GYRE_KEYED_SETTLED_ ? count : next);
    while (mine != GYRE_KEYED_SETTLED_ && before < slot && run->part[before] != mine)
        before++;
    return mine == GYRE_KEYED_SETTLED_ || before == slot;
}

/*
 * Handles the messages of the run whose keys this block owns. Called by all threads. Returns how many the thread failed;
 * run->others: messages that other blocks own.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_handle_run_(gyre_block_view *view, gyre_keyed_run_ *run, gyre_chunk *cells,
                                            void *table, gyre_context *gyre)
{
    const gyre_worker *worker = &view->workers[0];
    const gyre_u32 count = worker->count, thread = threadIdx.x;
    gyre_u32 failed = 0, leads = 0;
    GYRE_QUEUE_BEGIN_(gyre, &view->served[worker->which]);
    if (thread == 0)
        run->others = 0;
    if (thread < count)
        run->part[thread] =
            (gyre_u16)gyre_keyed_part_in_run_<K>(cells, thread, worker, (const gyre_keyed_table *)table);
    __syncthreads();
    if (thread < count) {
        leads = gyre_keyed_link_(run, thread, count);
        if (run->part[thread] == GYRE_KEYED_NOT_OWN_)
            atomicAdd(&run->others, 1u);
    }
    __syncthreads();
    for (gyre_u32 slot = leads ? thread : count; slot < count; slot = run->next[slot])
        failed += gyre_handle_staged_<gyre_keyed_of_<K>>(cells, slot, worker, table, 0, gyre);
    return failed;
}

/* ---- several blocks ---- */

/* The serial of the run that a block handled last. */
GYRE_HELPER gyre_u64 *gyre_keyed_done_(const gyre_cuda_arguments &arguments, gyre_u32 block)
{
    return &arguments.arrived[gridDim.x + block];
}

GYRE_HELPER void gyre_keyed_store_(gyre_u64 *to, gyre_u64 value)
{
    asm volatile("st.release.gpu.global.u64 [%0],%1;" ::"l"(to), "l"(value) : "memory");
}

/* Posts block 0's run to the other blocks. Called by all threads of block 0; the run lies in device memory. */
GYRE_HELPER void gyre_keyed_post_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                  gyre_keyed_run_ *run)
{
    gyre_cuda_keyed_post *post = &arguments.relay->post;
    const gyre_worker *worker = &view->workers[0];
    __syncthreads(); /* all threads have stored their share of the run */
    if (threadIdx.x > 0)
        return;
    post->first = worker->first;
    post->drop_before = worker->drop_before;
    post->count = worker->count;
    post->which = worker->which;
    __threadfence();
    gyre_keyed_store_(&post->serial, ++run->serial);
}

/* Waits until the other blocks have handled the run. Called by all threads of block 0. */
GYRE_HELPER void gyre_keyed_await_(const gyre_cuda_arguments &arguments, const gyre_keyed_run_ *run)
{
#pragma unroll 1
    for (gyre_u32 block = 1 + threadIdx.x; block < gridDim.x; block += blockDim.x)
        while (gyre_device_load_(gyre_keyed_done_(arguments, block)) != run->serial)
            ;
    __syncthreads();
}

/*
 * Waits for block 0's next run, and notes it as this block's. Returns 0 at another order: block 0 passes an order on when no run is
 * under way, so none is missed. Called by all threads of another block.
 */
GYRE_HELPER gyre_u32 gyre_keyed_listen_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                        gyre_keyed_run_ *run)
{
    const gyre_cuda_keyed_post *post = &arguments.relay->post;
    gyre_worker *worker = &view->workers[0];
    __syncthreads(); /* all threads have left the last run */
    if (threadIdx.x == 0) {
        gyre_u64 serial;
        while ((serial = gyre_device_load_(&post->serial)) == run->serial && !gyre_order_changed_(view))
            ;
        run->there = serial != run->serial;
        run->serial = serial;
        worker->first = gyre_near_load_(&post->first);
        worker->drop_before = gyre_near_load_(&post->drop_before);
        worker->count = gyre_near_half_load_(&post->count);
        worker->which = gyre_near_half_load_(&post->which);
    }
    __syncthreads();
    return run->there;
}

/* Serves the queues with the other blocks, until another order. Called by all threads of block 0. */
template <class K>
GYRE_HELPER void gyre_keyed_lead_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                  gyre_keyed_run_ *run, gyre_chunk *cells, gyre_context *gyre)
{
    while (gyre_next_run_(arguments, view, cells, blockDim.x)) {
        if (gridDim.x > 1)
            gyre_keyed_post_(arguments, view, run);
        const gyre_u32 failed = gyre_keyed_handle_run_<K>(view, run, cells, arguments.state, gyre);
        if (gridDim.x > 1) {
            gyre_keyed_await_(arguments, run);
            if (threadIdx.x == 0) /* the others count theirs */
                atomicAdd(&view->handled, 0 - (gyre_u64)run->others);
        }
        gyre_end_run_(arguments, view, blockDim.x, failed);
    }
}

/* Handles what block 0 posts, until another order. Called by all threads of another block. */
template <class K>
GYRE_HELPER void gyre_keyed_follow_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                    gyre_keyed_run_ *run, gyre_chunk *cells, gyre_context *gyre)
{
    while (gyre_keyed_listen_(arguments, view, run)) {
        if (threadIdx.x == 0)
            gyre_turn_begins_(gyre_turn_(arguments, 0));
        const gyre_u32 failed = gyre_keyed_handle_run_<K>(view, run, cells, arguments.state, gyre);
        if (failed)
            atomicAdd(&view->failed, (gyre_u64)failed);
        __syncthreads(); /* all threads have written their replies */
        if (threadIdx.x > 0)
            continue;
        atomicAdd(&view->handled, (gyre_u64)(view->workers[0].count - run->others));
        gyre_turn_ends_(gyre_turn_(arguments, 0));
        __threadfence();
        gyre_keyed_store_(gyre_keyed_done_(arguments, blockIdx.x), run->serial);
        gyre_tell_counts_(arguments, view);
    }
}

/* ---- the loop ---- */

template <class K> GYRE_HELPER gyre_shape gyre_keyed_shape_(gyre_u32 in_shared)
{
    typedef gyre_stage_<K> stage;
    return {GYRE_SHAPE_KEYED_ | (in_shared ? GYRE_SHAPE_SHARED_ : 0) |
                (in_shared && GYRE_CUDA_DENSE(K::gyre_its_request_size_) ? GYRE_SHAPE_DENSE_ : 0),
            stage::request_chunks, stage::reply_chunks, 0, 0};
}

/* Runs are never shorter than GYRE_KEYED_LEAST. Called by one thread, before the block serves queues. */
GYRE_HELPER void gyre_keyed_widen_(gyre_stage_place *stage)
{
    const gyre_u32 least = GYRE_KEYED_LEAST < stage->most ? GYRE_KEYED_LEAST : stage->most;
    if (stage->least < least)
        stage->window = stage->least = least;
}

template <class K> GYRE_HELPER void gyre_keyed_reside_(const gyre_cuda_arguments &arguments)
{
    extern __shared__ gyre_chunk gyre_dynamic_memory_[];
    __shared__ gyre_block_view view;
    __shared__ gyre_keyed_run_ run;
    gyre_context gyre;
    const gyre_u32 in_shared = gyre_stage_<K>::in_shared && gridDim.x == 1;
    gyre_chunk *cells = in_shared ? gyre_dynamic_memory_ : (gyre_chunk *)arguments.stage; /* block 0's */
    gyre_context_make_(&gyre, arguments, 0);
    gyre.lane = 0;
    gyre.lane_count = 1;
    if (threadIdx.x == 0)
        run.serial = blockIdx.x == 0 ? gyre_near_load_(&arguments.relay->post.serial)
                                     : gyre_near_load_(gyre_keyed_done_(arguments, blockIdx.x));
    gyre_arrive_(arguments, &view, gyre_keyed_shape_<K>(in_shared), 0);
    while (gyre_next_order_(arguments, &view) != 0) {
        if (GYRE_KEYED_LEAST > 1 && threadIdx.x == 0)
            gyre_keyed_widen_(&view.stage);
        if (blockIdx.x == 0)
            gyre_keyed_lead_<K>(arguments, &view, &run, cells, &gyre);
        else
            gyre_keyed_follow_<K>(arguments, &view, &run, cells, &gyre);
    }
}

/* ---- declaring ---- */

#define GYRE_KEYED_TRAITS_(request_, key_, hooks_)                                                           \
    typedef hooks_ gyre_its_hooks_;                                                                          \
    enum {                                                                                                   \
        gyre_its_key_size_ = sizeof(((request_ *)0)->key_),                                                  \
        gyre_its_key_words_ = (gyre_its_key_size_ + 7) / 8                                                   \
    };                                                                                                       \
    static __device__ __forceinline__ const gyre_u8 *gyre_its_key_(const void *gyre_its_in_)                 \
    {                                                                                                        \
        return (const gyre_u8 *)&((const request_ *)gyre_its_in_)->key_;                                     \
    }                                                                                                        \
    static __device__ __forceinline__ int gyre_its_admit_(gyre_context *gyre_its_context_,                   \
                                                          const void *gyre_its_in_)                          \
    {                                                                                                        \
        return gyre_admit_##request_(gyre_its_context_, (const request_ *)gyre_its_in_);                     \
    }

#define GYRE_ENTRY_KEYED_(name_)                                                                             \
    extern "C" __global__ void __launch_bounds__(GYRE_KEYED_THREADS, 1)                                      \
        gyre_resident_##name_(const __grid_constant__ gyre_cuda_arguments gyre_its_arguments_)               \
    {                                                                                                        \
        gyre_keyed_reside_<gyre_traits_of_##name_>(gyre_its_arguments_);                                     \
    }

#define GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, hooks_, reminds_)                         \
    GYRE_HANDLER_(name_, request_, reply_, gyre_none, state_, gyre_none);                                    \
    GYRE_DESCRIBE_KERNEL_(4, name_, request_, reply_, gyre_none, state_, gyre_none)                          \
    GYRE_EXPORTED_TEXT_(gyre_key_##name_, #key_)                                                             \
    GYRE_RESIDENT_KERNEL_(4, name_, request_, reply_, gyre_none, state_, gyre_none,                          \
                          GYRE_STAGE_TRAITS_(gyre_no_ports) GYRE_KEYED_TRAITS_(request_, key_, hooks_))      \
    GYRE_ENTRY_KEYED_(name_)

#define GYRE_DECLARE_LIVES_(name_, request_, state_)                                                         \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    struct gyre_keyed_hooks_of_##name_ {                                                                     \
        enum { gyre_its_keys_leave_ = 1 };                                                                   \
        static __device__ __forceinline__ void gyre_its_born_(const void *gyre_its_request_,                 \
                                                              void *gyre_its_state_,                         \
                                                              gyre_context *gyre_its_context_)               \
        {                                                                                                    \
            gyre_born_##name_((const request_ *)gyre_its_request_, (state_ *)gyre_its_state_,                \
                              gyre_its_context_);                                                            \
        }                                                                                                    \
        static __device__ __forceinline__ int gyre_its_leaves_(void *gyre_its_state_,                        \
                                                               gyre_context *gyre_its_context_)              \
        {                                                                                                    \
            return gyre_passive_##name_((state_ *)gyre_its_state_, gyre_its_context_) == GYRE_LEAVES;        \
        }                                                                                                    \
    };

/* Launches of kernels with reminders are refused by the backend (cuda_launch.c): the hook is called nowhere. */
#define GYRE_DECLARE_REMINDED_(name_, state_)                                                                \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_EXPORTED_TEXT_(gyre_reminds_##name_, "reminds")

#define GYRE_KEYED_NO_HOOKS_         gyre_keyed_no_hooks_
#define GYRE_KEYED_HOOKS_(name_)     gyre_keyed_hooks_of_##name_
#define GYRE_KEYED_REMINDS_(name_)   gyre_keyed_no_hooks_
#define GYRE_KEYED_ALL_HOOKS_(name_) gyre_keyed_hooks_of_##name_

/** The key of the message leaves when its handler has returned. */
#define gyre_forget(gyre) ((void)((gyre)->forgets = 1))

/* Only a keyed actor that has no GYRE_REMINDED gets here. */
GYRE_HELPER void gyre_remind(gyre_context *gyre, gyre_u64)
{
    gyre_fail_(gyre, GYRE_FAILURE_KEYS, "gyre_remind without a GYRE_REMINDED");
}

GYRE_HELPER void gyre_unremind(gyre_context *gyre)
{
    gyre_remind(gyre, 0);
}

#endif
