/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a keyed actor that can be a stage of a pipeline. Block 0 looks for a run in links and queues, as any stage does
 * (cuda_link_find.h), fetches it into cells, gives its places back, and posts it to the other blocks. Each block handles the messages
 * whose keys it owns, settles them, and stores the completions of the flows that end by them. So one function, gyre_keyed_owner, says
 * which block handles a message, however it came, and messages of a ring and a key are handled in the order of the ring.
 * Included by cuda_keyed.h in files with GYRE_STAGE.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_STAGE_H
#define GYRE_DIALECT_CUDA_KEYED_STAGE_H

/*
 * Decides which blocks of a stage route messages, when gyre_keyed_choose_routers_ has looked at its queues: all messages have to be lines,
 * and flows need nothing besides. All blocks decide alike, because they have the same table. Called by one thread.
 */
GYRE_HELPER void gyre_keyed_choose_linked_(gyre_block_view *view, const gyre_link_view_ *links)
{
    const gyre_u32 sources = view->queue_count + links->inlet_count;
    gyre_u32 routers = gridDim.x / 4, fits = view->routers && !GYRE_LIMITED && !links->needs &&
                                             links->inlet_count <= GYRE_KEYED_INLETS_MOST;
#pragma unroll 1
    for (gyre_u32 i = 0; fits && i < links->inlet_count; i++)
        fits = links->inlets[i].stride <= GYRE_LINE_SIZE;
    routers = routers < GYRE_KEYED_ROUTERS_MOST ? routers : GYRE_KEYED_ROUTERS_MOST;
    routers = routers < sources ? routers : sources;
    view->routers = fits ? (routers ? routers : 1) : 0;
    view->owners = fits ? gridDim.x - view->routers : 0;
    if (view->owners > GYRE_KEYED_OWNERS_MOST)
        view->owners = GYRE_KEYED_OWNERS_MOST;
}

/* Takes up the table of links. Behind it all blocks know whether they route. Called by all threads, at each order to run. */
template <class K>
GYRE_HELPER void gyre_keyed_linked_open_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                         gyre_link_view_ *links)
{
    static_assert(!GYRE_LINK_JOINS_(K), "a keyed actor has no memory of flows (GYRE_FLOW) on CUDA");
    gyre_link_open_<K>(arguments, view, links);
    if (threadIdx.x == 0) {
        links->drains = 0;
        if (links->table)
            gyre_keyed_choose_linked_(view, links);
    }
    __syncthreads();
}

/* ---- asks ---- */

#if GYRE_ASKS
/* What asks have in front of their messages lies behind the cells in device memory, for the other blocks. */
template <class K> GYRE_HELPER gyre_chunk *gyre_keyed_asks_(gyre_chunk *cells)
{
    return (gyre_chunk *)((gyre_u8 *)cells + gyre_link_shape_<K>::far_bytes);
}

/* Copies that of the block's run. Called by all threads. */
GYRE_HELPER void gyre_keyed_copy_asks_(gyre_chunk *to, const gyre_chunk *from, gyre_u32 messages)
{
    for (gyre_u32 i = threadIdx.x; i < messages * GYRE_ASK_CHUNKS; i += blockDim.x)
        to[i] = from[i];
}

/* Waits until all messages of the run may be answered: rings of asks are never full for good (link_layout.h). Called by all threads. */
GYRE_HELPER void gyre_keyed_await_room_(gyre_link_view_ *links)
{
    if (threadIdx.x < 32)
        while (gyre_link_room_(links, links->run.count, GYRE_ALL_LANES) < links->run.count)
            ;
    __syncthreads();
}

template <class K> GYRE_HELPER constexpr gyre_u32 gyre_keyed_linked_most_()
{
    return gyre_link_shape_<K>::far_bytes / gyre_link_shape_<K>::cell_bytes < GYRE_LINK_IN_TURN
               ? gyre_link_shape_<K>::far_bytes / gyre_link_shape_<K>::cell_bytes
               : GYRE_LINK_IN_TURN;
}
#else
template <class K> GYRE_HELPER constexpr gyre_u32 gyre_keyed_linked_most_()
{
    return GYRE_KEYED_THREADS;
}
#endif

/* ---- a run ---- */

/* Notes message `slot` if this block owns its key. Returns its part then. Settles one that its handler does not get. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_linked_sort_(gyre_keyed_run_ *run, gyre_link_view_ *links, gyre_chunk *cells,
                                             gyre_u32 slot, const gyre_keyed_table *table, gyre_context *gyre,
                                             gyre_u32 *mine)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 drop_before = links->run.from == GYRE_RUN_LINK ? 0 : links->run.drop_before;
    gyre_u64 key[K::gyre_its_key_words_];
    gyre_u32 number = GYRE_KEYED_NOWHERE;
    if (gyre_settle_<K>(in, out, links->run.first + slot, drop_before, blockIdx.x == 0)) {
        *mine = blockIdx.x == 0;
        if (*mine)
            gyre_keyed_linked_settle_alone_<K>(links, cells, links->run.first, slot, gyre);
    } else {
        gyre_keyed_key_<K>(gyre_payload_(in), key);
        const gyre_u64 hash = gyre_keyed_hash_of_<K>(table, key);
        *mine = gyre_keyed_owner(table, hash, gridDim.x) == blockIdx.x;
        if (*mine)
            number = gyre_keyed_note_<K>(run, slot, table, key, hash);
    }
    if (!*mine)
        atomicAdd(&run->others, 1u);
    return number;
}

/* Stores the completions of the flows that ended by messages of this block. `mine`: whether message `threadIdx.x` is one of them. */
template <class K>
GYRE_HELPER void gyre_keyed_linked_complete_(const gyre_link_view_ *links, gyre_chunk *cells, gyre_u32 mine)
{
    typedef gyre_stage_<K> stage;
    gyre_chunk *cell = cells + threadIdx.x * stage::cell;
    const gyre_u64 to = mine ? *gyre_keyed_linked_to_(cell) : 0;
    if (!__any_sync(GYRE_ALL_LANES, to != 0))
        return;
    if (links->needs) {
        gyre_fence_system_();
        __syncwarp();
    }
    gyre_link_complete_(cell + stage::request_chunks, stage::cell, stage::reply_chunks > GYRE_LINE_CHUNKS,
                        to);
}

/* Handles the messages of the run whose keys this block owns. Called by all threads. run->others: messages that other blocks own. */
template <class K>
GYRE_HELPER void gyre_keyed_linked_run_(const gyre_cuda_arguments &arguments, gyre_keyed_run_ *run,
                                        gyre_link_view_ *links, gyre_chunk *cells, gyre_context *gyre)
{
    const gyre_keyed_table *table = (const gyre_keyed_table *)arguments.state;
    gyre_u32 part = GYRE_KEYED_NOWHERE, mine = 0;
    GYRE_QUEUE_BEGIN_(gyre, gyre_link_queue_(links));
    if (threadIdx.x == 0)
        run->others = 0;
    __syncthreads();
    if (threadIdx.x < links->run.count)
        part = gyre_keyed_linked_sort_<K>(run, links, cells, threadIdx.x, table, gyre, &mine);
    __syncthreads();
    if (part != GYRE_KEYED_NOWHERE)
        gyre_keyed_chain_(run, threadIdx.x, part);
    __syncthreads();
    const gyre_u32 failed = gyre_keyed_handle_part_<K>(run, cells, links->run.first, links, table, gyre);
    if (failed)
        atomicAdd(&links->view->failed, (gyre_u64)failed);
    gyre_keyed_note_due_<K>(arguments, links->view, gyre);
    __syncthreads(); /* all threads have settled their messages */
#if GYRE_ASKS
    gyre_link_publish_placed_(links);
#endif
    gyre_keyed_linked_complete_<K>(links, cells, mine);
}

/* ---- several blocks ---- */

/* Posts block 0's run to the other blocks. Called by all threads of block 0; the run lies in device memory. */
GYRE_HELPER void gyre_keyed_linked_post_(const gyre_cuda_arguments &arguments, const gyre_link_view_ *links,
                                         gyre_keyed_run_ *run)
{
    gyre_cuda_keyed_post *post = &arguments.relay->post;
    __syncthreads(); /* all threads have stored their share of the run */
    if (threadIdx.x > 0)
        return;
    post->first = links->run.first;
    post->drop_before = links->run.drop_before;
    post->count = links->run.count;
    post->which = links->run.which;
    post->from = links->run.from;
    post->entry = links->run.entry;
    __threadfence();
    gyre_keyed_store_(&post->serial, ++run->serial);
}

/*
 * Waits for block 0's next run, and has it in links->run. Returns 0 at another order: block 0 passes an order on when no run is under
 * way, so none is missed. Called by all threads of another block.
 */
GYRE_HELPER gyre_u32 gyre_keyed_linked_listen_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                               gyre_keyed_run_ *run)
{
    const gyre_cuda_keyed_post *post = &arguments.relay->post;
    __syncthreads(); /* all threads have left the last run */
    if (threadIdx.x == 0) {
        gyre_u64 serial;
        while ((serial = gyre_device_load_(&post->serial)) == run->serial &&
               !gyre_order_changed_(links->view))
            ;
        run->there = serial != run->serial;
        run->serial = serial;
        links->run = {};
        links->run.first = gyre_near_load_(&post->first);
        links->run.drop_before = gyre_near_load_(&post->drop_before);
        links->run.count = gyre_near_half_load_(&post->count);
        links->run.which = gyre_near_half_load_(&post->which);
        links->run.from = gyre_near_half_load_(&post->from);
        links->run.entry = gyre_near_half_load_(&post->entry);
        links->run.mask = links->run.from == GYRE_RUN_LINK ? 0 : links->view->served[links->run.which].mask;
    }
    __syncthreads();
    return run->there;
}

/* Finds the next run, and fetches it. Returns 0 at another order. Called by all threads of block 0. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_linked_next_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                             gyre_chunk *cells)
{
    const gyre_u32 window = links->view->stage.window, most = gyre_keyed_linked_most_<K>();
    if (threadIdx.x < 32)
        gyre_link_find_(arguments, links, window < most ? window : most);
    __syncthreads();
    if (links->run.from == GYRE_RUN_NONE)
        return 0;
    if (threadIdx.x == 0)
        links->view->stage.started = (gyre_u64)clock64();
    GYRE_LINK_AWAIT_ASKS_(links);
    gyre_link_fetch_<K>(links, cells, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0 && links->run.from == GYRE_RUN_LINK)
        gyre_link_give_back_(links, links->run);
    return 1;
}

/* Serves links and queues with the other blocks, until another order. Called by all threads of block 0. */
template <class K>
GYRE_HELPER void gyre_keyed_linked_lead_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                         gyre_keyed_run_ *run, gyre_chunk *cells, gyre_context *gyre)
{
    gyre_keyed_reminders_begin_<K>(arguments, links->view, blockIdx.x, gridDim.x, gyre);
    while (gyre_keyed_linked_next_<K>(arguments, links, cells) ||
           gyre_keyed_reminds_<K>(arguments, links->view, blockIdx.x, gridDim.x, gyre)) {
        if (*(volatile gyre_u32 *)&links->run.from == GYRE_RUN_NONE) /* keys were reminded */
            continue;
#if GYRE_ASKS
        if (gridDim.x > 1)
            gyre_keyed_copy_asks_(gyre_keyed_asks_<K>(cells), links->asks, links->run.count);
#endif
        if (gridDim.x > 1)
            gyre_keyed_linked_post_(arguments, links, run);
        gyre_keyed_linked_run_<K>(arguments, run, links, cells, gyre);
        if (gridDim.x > 1)
            gyre_keyed_await_(arguments, run);
        __syncthreads(); /* all threads have left the run */
        if (threadIdx.x > 0)
            continue;
        gyre_adapt_window_(links->view, links->run.count);
        gyre_turn_ends_(gyre_turn_(arguments, 0));
        links->view->handled += links->run.count - run->others;
    }
    gyre_keyed_reminders_end_<K>(links->view);
}

/* Handles what block 0 posts, until another order. Called by all threads of another block. */
template <class K>
GYRE_HELPER void gyre_keyed_linked_follow_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                           gyre_keyed_run_ *run, gyre_chunk *cells, gyre_context *gyre)
{
    gyre_keyed_reminders_begin_<K>(arguments, links->view, blockIdx.x, gridDim.x, gyre);
    while (gyre_keyed_linked_listen_(arguments, links, run) ||
           gyre_keyed_reminds_<K>(arguments, links->view, blockIdx.x, gridDim.x, gyre)) {
        if (!*(volatile gyre_u32 *)&run->there)
            continue;
        if (threadIdx.x == 0)
            gyre_turn_begins_(gyre_turn_(arguments, 0));
#if GYRE_ASKS
        gyre_keyed_copy_asks_(links->asks, gyre_keyed_asks_<K>(cells), links->run.count);
        gyre_keyed_await_room_(links);
#endif
        gyre_keyed_linked_run_<K>(arguments, run, links, cells, gyre);
        __syncthreads(); /* all threads have written their replies */
        if (threadIdx.x > 0)
            continue;
        links->view->handled += links->run.count - run->others;
        gyre_turn_ends_(gyre_turn_(arguments, 0));
        __threadfence();
        gyre_keyed_store_(gyre_keyed_done_(arguments, blockIdx.x), run->serial);
        gyre_tell_counts_(arguments, links->view);
    }
    gyre_keyed_reminders_end_<K>(links->view);
}

/* Serves the stage until another order. Called by all threads. */
template <class K>
GYRE_HELPER void gyre_keyed_linked_serve_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                          gyre_keyed_run_ *run, gyre_chunk *cells, gyre_context *gyre)
{
    if (blockIdx.x == 0)
        gyre_keyed_linked_lead_<K>(arguments, links, run, cells, gyre);
    else
        gyre_keyed_linked_follow_<K>(arguments, links, run, cells, gyre);
}

#endif
