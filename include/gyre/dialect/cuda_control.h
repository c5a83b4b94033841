/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a block of a resident CUDA kernel obeys orders: it takes up the latest order, takes its share of the queues, and
 * acknowledges. Block 0 reads the host's words and passes them on in device memory (the relay). A part (see
 * cuda_resident.h): no function here runs once a message. Included by cuda_resident.h.
 */
#ifndef GYRE_DIALECT_CUDA_CONTROL_H
#define GYRE_DIALECT_CUDA_CONTROL_H

/* ---- block 0 reads, and tells the others ---- */

/* Waits until every block has taken up that order or a later one. Called by all threads; all blocks are resident. */
GYRE_HELPER void gyre_await_blocks_(const gyre_cuda_arguments &arguments, gyre_u64 order)
{
#pragma unroll 1
    for (gyre_u32 block = threadIdx.x; block < gridDim.x; block += blockDim.x)
        while (gyre_device_load_(&arguments.arrived[block]) < order)
            ;
    __syncthreads();
}

/*
 * Says that block `blockIdx.x` has stored its positions in the cursors or, with the low bit set in `order`, has read
 * the relay.
 */
GYRE_HELPER void gyre_arrived_at_(const gyre_cuda_arguments &arguments, gyre_u64 order)
{
    asm volatile("st.release.gpu.global.u64 [%0],%1;" ::"l"(&arguments.arrived[blockIdx.x]), "l"(order)
                 : "memory");
}

/* Copies one row of the queue table into the relay, if the row holds a queue. Called by one thread. */
GYRE_HELPER void gyre_relay_row_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u32 entry)
{
    const gyre_control_queue *row = &arguments.control->queues[entry];
    gyre_cuda_relayed *relayed = &arguments.relay->rows[entry];
    const gyre_u64 address = gyre_word_load_(&row->address);
    gyre_u64 words[sizeof *row / 8];
    if (!address)
        return;
    gyre_fence_system_(); /* the address is stored last: the other words of the row are there */
#pragma unroll
    for (gyre_u32 i = 0; i < sizeof *row / 8; i++)
        words[i] = gyre_word_load_((const gyre_u64 *)row + i);
    relayed->drop_before = gyre_word_load_(&((const gyre_queue_region *)address)->host.drop_before);
#pragma unroll
    for (gyre_u32 i = 0; i < sizeof *row / 8; i++)
        ((gyre_u64 *)&relayed->row)[i] = words[i];
    relayed->row.address = address; /* the address that was read before the fence */
    __threadfence();
    atomicOr(&view->live, 1ull << entry);
}

/*
 * Copies the latest order and its rows from the host into the relay, once all blocks have read the relay's rows of the
 * order `before` (0: there is none). Called by all threads of block 0.
 */
GYRE_HELPER void gyre_speak_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u64 before)
{
    gyre_u32 rows = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        view->live = 0;
        view->order = gyre_word_load_(&arguments.orders->order);
        gyre_fence_system_(); /* the command is at least as new as the order */
        view->command = gyre_word_load_(&arguments.control->command.command);
        gyre_arrived_at_(arguments, view->order);
    }
    __syncthreads();
    if (before)
        gyre_await_blocks_(arguments, before | 1);
    if (!(view->order & GYRE_ORDER_LEAVE) && GYRE_COMMAND_VERB(view->command) == GYRE_VERB_RUN)
        rows = gyre_half_load_(&arguments.control->command.queue_count);
#pragma unroll 1
    for (gyre_u32 entry = threadIdx.x; entry < rows; entry += blockDim.x)
        gyre_relay_row_(arguments, view, entry);
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    arguments.relay->command = view->command;
    arguments.relay->live = view->live;
#if GYRE_STAGE && GYRE_KEYED
    arguments.relay->links = gyre_word_load_(&arguments.control->command.links);
#endif
    __threadfence();
    asm volatile("st.release.gpu.global.u64 [%0],%1;" ::"l"(&arguments.relay->order), "l"(view->order)
                 : "memory");
}

/* Waits for block 0's next order in the relay. Called by one thread of another block. */
GYRE_HELPER void gyre_listen_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    gyre_u64 order;
    do {
        order = gyre_device_load_(&arguments.relay->order);
    } while (order == view->order || order < arguments.order);
    view->order = order;
    view->command = gyre_near_load_(&arguments.relay->command);
    gyre_arrived_at_(arguments, order);
}

/* ---- sharing out the queues ---- */

/* Makes one row of the relay a queue of this block. Called by one thread. */
GYRE_HELPER void gyre_take_queue_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u32 entry)
{
    const gyre_cuda_relayed *relayed = &arguments.relay->rows[entry];
    const gyre_control_queue *row = &relayed->row;
    const gyre_u64 serial = gyre_near_load_(&row->serial), first = gyre_near_load_(&row->first);
    gyre_queue_region *region = (gyre_queue_region *)gyre_near_load_(&row->address);
    gyre_cuda_cursor *cursor = &arguments.cursors[entry];
    if (view->team_leader && gyre_device_load_(&cursor->serial) != serial) {
        cursor->claims.next = first;
        cursor->claims.ready = first;
        cursor->claims.limit = cursor->settled = first;
        gyre_open_track_(row, (const gyre_u8 *)region, cursor);
        __threadfence();
        *(volatile gyre_u64 *)&cursor->serial = serial;
    }
    while (gyre_device_load_(&cursor->serial) != serial)
        ; /* the leader of the team is about to set it */
    gyre_served *served = &view->served[view->queue_count++];
    served->entry = (gyre_u16)entry;
    served->own.next = served->own.ready = served->own.limit = gyre_near_load_(&cursor->claims.next);
    served->own.pollers[0] = served->own.pollers[1] = 0;
    served->claims = view->team_size > 1 ? &cursor->claims : &served->own;
    served->mask = gyre_near_load_(&row->slots.capacity) - 1;
    served->requests = (const gyre_u8 *)region + gyre_near_load_(&row->slots.request_offset);
    served->replies = (gyre_u8 *)region + gyre_near_load_(&row->slots.reply_offset);
    served->request_stride = gyre_near_half_load_(&row->slots.request_stride);
    served->reply_stride = gyre_near_half_load_(&row->slots.reply_stride);
    served->drop_before = &region->host.drop_before;
    served->dropping = gyre_near_load_(&relayed->drop_before);
    served->looked = (gyre_u64)clock64();
    const gyre_u64 stamps = gyre_near_load_(&row->slots.stamps_offset);
    served->stamps = stamps ? (gyre_stamp *)((gyre_u8 *)region + stamps) : 0;
    const gyre_u64 headers = gyre_near_load_(&row->slots.headers_offset);
    served->headers = headers ? (const gyre_u8 *)region + headers : 0;
    served->header_size = gyre_near_half_load_(&row->slots.header_size);
    served->kind = gyre_bridged_(row);
    const gyre_u32 more =
        gyre_near_half_load_((const gyre_u32 *)&row->slots.sealed); /* and the bytes behind it */
    const gyre_u32 asked = more >> 16 & 0xffu, answered = more >> 24;
    if (more & 0xffu)
        served->kind |= GYRE_KIND_SEALED_;
    if (more >> 8 & GYRE_FOREIGN_RING)
        served->kind |= GYRE_KIND_FOREIGN_;
    if (more >> 8 & (GYRE_FOREIGN_RING | GYRE_FOREIGN_REPLIES))
        served->kind |= GYRE_KIND_ZEROED_;
    served->lone_at = (gyre_u64)clock64();
    served->express = asked ? (const gyre_express_line *)served->requests - asked : 0;
    served->express_replies =
        answered ? (gyre_express_line *)(gyre_u8 *)served->requests - asked - answered : 0;
}

#if GYRE_KEYED
/* Whether a queue's messages can be routed: each is one line, and has nothing beside it. */
GYRE_HELPER gyre_u32 gyre_keyed_is_routable_(const gyre_served *queue)
{
    return !(queue->kind & ~(GYRE_KIND_FOREIGN_ | GYRE_KIND_ZEROED_)) && !queue->stamps && !queue->headers &&
           queue->request_stride == GYRE_LINE_SIZE && queue->reply_stride == GYRE_LINE_SIZE;
}

/* Decides which blocks of a keyed actor route messages. All blocks decide alike. Called by one thread. */
GYRE_HELPER void gyre_keyed_choose_routers_(gyre_block_view *view)
{
    const gyre_shape *shape = &view->shape;
    const gyre_u32 cell = (shape->request_chunks + shape->reply_chunks) | 1;
    gyre_u32 routers = gridDim.x / 4;
    view->routers = view->owners = 0;
#if GYRE_HEADED || GYRE_SEALED || GYRE_TIMED
    return;
#endif
    if (gridDim.x < GYRE_KEYED_ROUTED_BLOCKS ||
        (gyre_dynamic_size_() / 16 - shape->scratch_chunks) / cell < GYRE_KEYED_ROUTED_ROOM)
        return;
#pragma unroll 1
    for (gyre_u32 i = 0; i < view->queue_count; i++)
        if (!gyre_keyed_is_routable_(&view->served[i]))
            return;
    routers = routers < GYRE_KEYED_ROUTERS_MOST ? routers : GYRE_KEYED_ROUTERS_MOST;
    routers = routers < view->queue_count ? routers : view->queue_count;
    view->routers = routers ? routers : 1;
    view->owners = gridDim.x - view->routers;
    if (view->owners > GYRE_KEYED_OWNERS_MOST)
        view->owners = GYRE_KEYED_OWNERS_MOST;
}

/*
 * All blocks of a keyed actor know all queues, in the same order; block 0, or the block that routes a queue's messages, alone moves its
 * cursor (cuda_keyed.h). Called by one thread.
 */
GYRE_HELPER void gyre_keyed_read_table_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                        gyre_u64 rows)
{
    view->team_leader = blockIdx.x == 0;
#pragma unroll 1
    for (; rows; rows &= rows - 1)
        gyre_take_queue_(arguments, view, (gyre_u32)__ffsll((long long)rows) - 1);
    gyre_keyed_choose_routers_(view);
}

/* Whether this block moves the cursor of a queue. */
GYRE_HELPER gyre_u32 gyre_keyed_moves_(const gyre_block_view *view, gyre_u32 which)
{
    return blockIdx.x == (view->routers ? which % view->routers : 0);
}
#endif

#if GYRE_GRID
/* All blocks of a grid kernel know all queues, and block 0 alone takes messages from them (cuda_grid.h). Called by one thread. */
GYRE_HELPER void gyre_grid_read_table_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                       gyre_u64 rows)
{
    view->team_leader = blockIdx.x == 0;
#pragma unroll 1
    for (; rows; rows &= rows - 1)
        gyre_take_queue_(arguments, view, (gyre_u32)__ffsll((long long)rows) - 1);
}
#endif

/*
 * Finds this block's queues. With at least as many queues as blocks, the block has every n-th queue for itself (n: the
 * number of blocks). With fewer queues, the block shares one queue with the other blocks of its team. Called by one
 * thread.
 */
GYRE_HELPER void gyre_read_table_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    const gyre_u32 block = blockIdx.x, blocks = gridDim.x;
    gyre_u64 rows = gyre_near_load_(&arguments.relay->live);
    const gyre_u32 live = (gyre_u32)__popcll(rows);
    view->queue_count = 0;
    view->team_size = 1;
    view->team_leader = 1;
    if (live == 0)
        return;
#if GYRE_KEYED
    if (view->shape.is & GYRE_SHAPE_KEYED_) {
        gyre_keyed_read_table_(arguments, view, rows);
        return;
    }
#endif
#if GYRE_GRID
    if (view->shape.is & GYRE_SHAPE_GRID_) {
        gyre_grid_read_table_(arguments, view, rows);
        return;
    }
#endif
    if (live < blocks) {
        const gyre_u32 mine = block % live;
        view->team_size = (blocks - mine + live - 1) / live;
        view->team_leader = block < live;
    }
#pragma unroll 1
    for (gyre_u32 number = 0; rows; number++, rows &= rows - 1)
        if (live < blocks ? number == block % live : number % blocks == block)
            gyre_take_queue_(arguments, view, (gyre_u32)__ffsll((long long)rows) - 1);
}

/*
 * Saves the positions in device memory, for the end of this launch or for another share of the queues. Called by one
 * thread.
 */
GYRE_HELPER void gyre_save_cursors_(const gyre_cuda_arguments &arguments, const gyre_block_view *view)
{
#pragma unroll 1
    for (gyre_u32 i = 0; i < view->queue_count && view->team_size == 1; i++) {
#if GYRE_KEYED
        if (view->shape.is & GYRE_SHAPE_KEYED_ && !gyre_keyed_moves_(view, i))
            continue;
#endif
#if GYRE_GRID
        if (view->shape.is & GYRE_SHAPE_GRID_ && blockIdx.x > 0)
            continue;
#endif
        arguments.cursors[view->served[i].entry].claims.next =
            arguments.cursors[view->served[i].entry].claims.ready = view->served[i].own.next;
    }
    __threadfence();
}

/* ---- obeying ---- */

/*
 * Takes up the latest order. Returns the verb to act on, or 0: leave. Called by all threads; the view is ready
 * afterwards.
 */
GYRE_HELPER gyre_u32 gyre_obey_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    __syncthreads();
    gyre_u64 before = 0;
    if (blockIdx.x == 0) /* in the other blocks a thread stores the next order meanwhile */
        before = *(volatile gyre_u64 *)&view->order;
    if (threadIdx.x == 0) {
        gyre_save_cursors_(arguments, view);
        gyre_count_served_(arguments, view);
        if (blockIdx.x > 0)
            gyre_listen_(arguments, view);
    }
    __syncthreads();
    if (blockIdx.x == 0)
        gyre_speak_(arguments, view, before);
    __syncthreads();
    return view->order & GYRE_ORDER_LEAVE ? 0 : (gyre_u32)GYRE_COMMAND_VERB(view->command);
}

GYRE_HELPER void gyre_acknowledge_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    gyre_control_block *line = (gyre_control_block *)(arguments.control + 1) + blockIdx.x;
    gyre_fence_system_();
    gyre_word_store_(&line->acknowledged, view->command);
}

GYRE_PART_ void gyre_arrive_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_shape shape,
                             void *near_state)
{
    GYRE_IN_SHARED_(view);
    const gyre_control_block *line = (const gyre_control_block *)(arguments.control + 1) + blockIdx.x;
    if (threadIdx.x > 0)
        return;
    view->shape = shape;
    view->near_state = near_state;
    view->staged = 0;
    view->order = 0;
    view->cursors = arguments.cursors;
    view->relay = arguments.relay;
    view->order_word = blockIdx.x == 0 ? &arguments.orders->order : &arguments.relay->order;
    view->asked = (gyre_u64)clock64();
    view->queue_count = 0;
#if GYRE_KEYED
    view->wake_ns = GYRE_NEVER_WOKEN_;
    view->by_ticks = gyre_half_load_(&arguments.control->command.by_ticks);
    view->told_due = 0;
#endif
    view->team_size = view->team_leader = 1;
    view->handled = gyre_word_load_(&line->handled);
    view->failed = gyre_word_load_(&line->failed);
    view->told = view->handled;
    view->telling = 0;
    view->posted = view->finished = view->posting = 0;
    gyre_barriers_make_(view);
}

/*
 * Takes up orders until an order says that the block is to serve queues, which `view` then lists (returns 1), or that
 * it is to leave (0). Called by all threads.
 */
GYRE_HELPER int gyre_await_run_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    for (;;) {
        const gyre_u32 verb = gyre_obey_(arguments, view);
        if (verb == 0)
            return 0;
        /* all blocks must have stored their positions before the queues are shared out anew */
        if (verb == GYRE_VERB_RUN)
            gyre_await_blocks_(arguments, view->order);
        if (threadIdx.x == 0) {
            if (verb == GYRE_VERB_RUN)
                gyre_read_table_(arguments, view);
            gyre_arrived_at_(arguments, view->order | 1);
            gyre_acknowledge_(arguments, view);
        }
        __syncthreads();
        if (verb == GYRE_VERB_STOP || verb == GYRE_VERB_YIELD)
            return 0;
        if (verb == GYRE_VERB_RUN && view->queue_count > 0)
            return 1;
        while (threadIdx.x == 0 && !gyre_order_changed_(view))
            gyre_rest_(GYRE_STANDS_SOON ? 100 : 2000);
    }
}

#endif
