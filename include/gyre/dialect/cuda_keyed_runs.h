/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a keyed actor that is no stage of pipelines: block 0 reads the queues, posts each run to the other blocks, and delivers it when
 * all have handled their messages (cuda_keyed.h, which includes this). Stages do it in cuda_keyed_stage.h.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_RUNS_H
#define GYRE_DIALECT_CUDA_KEYED_RUNS_H

/* Notes message `slot` if this block owns its key. Returns its part then. Settles one that its handler does not get. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_sort_(gyre_keyed_run_ *run, gyre_chunk *cells, gyre_u32 slot,
                                      const gyre_worker *worker, const gyre_keyed_table *table)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 index = worker->first + slot;
    gyre_u64 key[K::gyre_its_key_words_];
    gyre_u32 number = GYRE_KEYED_NOWHERE, others = 1;
    if (gyre_settle_<K>(in, out, index, worker->drop_before, blockIdx.x == 0)) {
        if (blockIdx.x == 0) {
            out->sequence = index + 1;
            others = 0;
        }
    } else {
        gyre_keyed_key_<K>(gyre_payload_(in), key);
        const gyre_u64 hash = gyre_keyed_hash_of_<K>(table, key);
        if (gyre_keyed_owner(table, hash, gridDim.x) == blockIdx.x) {
            number = gyre_keyed_note_<K>(run, slot, table, key, hash);
            out->sequence = index + 1;
            others = 0;
        }
    }
    if (others)
        atomicAdd(&run->others, 1u);
    return number;
}

/*
 * Handles the messages of the run whose keys this block owns. Called by all threads. Returns how many the thread failed;
 * run->others: messages that other blocks own.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_handle_run_(gyre_block_view *view, gyre_keyed_run_ *run, gyre_chunk *cells,
                                            const gyre_keyed_table *table, gyre_context *gyre)
{
    const gyre_worker *worker = &view->workers[0];
    const gyre_u32 thread = threadIdx.x;
    gyre_u32 part = GYRE_KEYED_NOWHERE;
    GYRE_QUEUE_BEGIN_(gyre, &view->served[worker->which]);
    if (thread == 0)
        run->others = 0;
    __syncthreads();
    if (thread < worker->count)
        part = gyre_keyed_sort_<K>(run, cells, thread, worker, table);
    __syncthreads();
    if (part != GYRE_KEYED_NOWHERE)
        gyre_keyed_chain_(run, thread, part);
    __syncthreads();
    return gyre_keyed_handle_part_<K>(run, cells, worker->first, 0, table, gyre);
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
    gyre_keyed_reminders_begin_<K>(arguments, view, blockIdx.x, gridDim.x, gyre);
    while (gyre_next_run_(arguments, view, cells, blockDim.x) ||
           gyre_keyed_reminds_<K>(arguments, view, blockIdx.x, gridDim.x, gyre)) {
        if (*(volatile gyre_u32 *)&view->workers[0].count == 0) /* keys were reminded */
            continue;
        if (gridDim.x > 1)
            gyre_keyed_post_(arguments, view, run);
        const gyre_u32 failed =
            gyre_keyed_handle_run_<K>(view, run, cells, (const gyre_keyed_table *)arguments.state, gyre);
        if (gridDim.x > 1) {
            gyre_keyed_await_(arguments, run);
            if (threadIdx.x == 0) /* the others count theirs */
                atomicAdd(&view->handled, 0 - (gyre_u64)run->others);
        }
        gyre_keyed_note_due_<K>(arguments, view, gyre);
        gyre_end_run_(arguments, view, blockDim.x, failed);
    }
    gyre_keyed_reminders_end_<K>(view);
}

/* Handles what block 0 posts, until another order. Called by all threads of another block. */
template <class K>
GYRE_HELPER void gyre_keyed_follow_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                    gyre_keyed_run_ *run, gyre_chunk *cells, gyre_context *gyre)
{
    gyre_keyed_reminders_begin_<K>(arguments, view, blockIdx.x, gridDim.x, gyre);
    while (gyre_keyed_listen_(arguments, view, run) ||
           gyre_keyed_reminds_<K>(arguments, view, blockIdx.x, gridDim.x, gyre)) {
        if (!*(volatile gyre_u32 *)&run->there)
            continue;
        if (threadIdx.x == 0)
            gyre_turn_begins_(gyre_turn_(arguments, 0));
        const gyre_u32 failed =
            gyre_keyed_handle_run_<K>(view, run, cells, (const gyre_keyed_table *)arguments.state, gyre);
        if (failed)
            atomicAdd(&view->failed, (gyre_u64)failed);
        gyre_keyed_note_due_<K>(arguments, view, gyre);
        __syncthreads(); /* all threads have written their replies */
        if (threadIdx.x > 0)
            continue;
        atomicAdd(&view->handled, (gyre_u64)(view->workers[0].count - run->others));
        gyre_turn_ends_(gyre_turn_(arguments, 0));
        __threadfence();
        gyre_keyed_store_(gyre_keyed_done_(arguments, blockIdx.x), run->serial);
        gyre_tell_counts_(arguments, view);
    }
    gyre_keyed_reminders_end_<K>(view);
}

#endif
