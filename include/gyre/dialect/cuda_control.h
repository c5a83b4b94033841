/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a block of a resident CUDA kernel obeys orders: it takes up the latest one, shares out the queues, and
 * acknowledges. A part (cuda_resident.h): nothing here runs once a message. Included by cuda_resident.h.
 */
#ifndef GYRE_DIALECT_CUDA_CONTROL_H
#define GYRE_DIALECT_CUDA_CONTROL_H

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
    served->mask = gyre_word_load_(&row->slots.capacity) - 1;
    served->requests = (const gyre_u8 *)region + gyre_word_load_(&row->slots.request_offset);
    served->replies = (gyre_u8 *)region + gyre_word_load_(&row->slots.reply_offset);
    served->request_stride = gyre_half_load_(&row->slots.request_stride);
    served->reply_stride = gyre_half_load_(&row->slots.reply_stride);
    served->drop_before = &region->host.drop_before;
    served->dropping = gyre_word_load_(served->drop_before);
    served->looked = (gyre_u64)clock64();
    const gyre_u64 stamps = gyre_word_load_(&row->slots.stamps_offset);
    served->stamps = stamps ? (gyre_stamp *)((gyre_u8 *)region + stamps) : 0;
    const gyre_u64 headers = gyre_word_load_(&row->slots.headers_offset);
    served->headers = headers ? (const gyre_u8 *)region + headers : 0;
    served->header_size = gyre_half_load_(&row->slots.header_size);
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
#pragma unroll 1
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
#pragma unroll 1
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
#pragma unroll 1
    for (gyre_u32 i = 0; i < view->queue_count && view->team_size == 1; i++)
        arguments.cursors[view->served[i].entry].next = arguments.cursors[view->served[i].entry].ready =
            view->served[i].next;
    __threadfence();
}

/*
 * Waits until every block has taken up this order or a later one, and so has left its positions in the
 * cursors: only then may the queues be shared out anew. All threads of the block; all blocks are resident.
 */
GYRE_HELPER void gyre_await_blocks_(const gyre_resident_arguments &arguments, const gyre_block_view *view)
{
#pragma unroll 1
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

GYRE_PART_ void gyre_arrive_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    const gyre_control_block *line = (const gyre_control_block *)(arguments.control + 1) + blockIdx.x;
    if (threadIdx.x > 0)
        return;
    view->queue_count = 0;
    view->team_size = view->team_leader = 1;
    view->handled = gyre_word_load_(&line->handled);
    view->failed = gyre_word_load_(&line->failed);
}

GYRE_PART_ int gyre_await_run_(const gyre_resident_arguments &arguments, gyre_block_view *view)
{
    for (;;) {
        const gyre_u32 verb = gyre_obey_(arguments, view);
        if (verb == 0)
            return 0;
        if (verb == GYRE_VERB_RUN)
            gyre_await_blocks_(arguments, view);
        if (threadIdx.x == 0) {
            if (verb == GYRE_VERB_RUN)
                gyre_read_table_(arguments, view);
            gyre_acknowledge_(arguments, view);
        }
        __syncthreads();
        if (verb == GYRE_VERB_STOP || verb == GYRE_VERB_YIELD)
            return 0;
        if (verb == GYRE_VERB_RUN && view->queue_count > 0)
            return 1;
        while (threadIdx.x == 0 && !gyre_order_changed_(arguments, view))
            gyre_rest_(2000);
    }
}

#endif
