/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a block finds requests that do not go the way of cuda_lines.h. A part (cuda_resident.h): it runs once a
 * window, never once a message. Included by cuda_resident.h.
 */
#ifndef GYRE_DIALECT_CUDA_FIND_H
#define GYRE_DIALECT_CUDA_FIND_H

/* The lanes of the first warp: a block kernel may have fewer than 32. */
GYRE_HELPER gyre_u32 gyre_first_warp_()
{
    return blockDim.x < 32 ? (1u << blockDim.x) - 1 : 0xffffffffu;
}

/* How many requests from `first` on are there, up to `most` and a warp's worth. By one warp. */
GYRE_HELPER gyre_u32 gyre_look_(const gyre_served *queue, gyre_u64 first, gyre_u32 most)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u64 sequence = 0;
    if (lane < most)
        sequence = gyre_word_load_(&gyre_request_at_(queue, first + lane)->sequence);
    const gyre_u32 missing = ~__ballot_sync(gyre_first_warp_(), lane < most && sequence == first + lane + 1);
    return missing ? (gyre_u32)__ffs((int)missing) - 1 : 32;
}

GYRE_HELPER gyre_u64 gyre_device_load_(const gyre_u64 *from)
{
    gyre_u64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0,[%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

/*
 * Several blocks share the queue: takes a share of what was seen to be there. When there is nothing left, one
 * of the idle blocks (whoever holds cursor->poller) looks across the bus and raises `ready` for all. By one
 * warp.
 */
GYRE_HELPER gyre_u32 gyre_find_together_(gyre_cuda_cursor *cursor, const gyre_served *queue, gyre_u32 most,
                                         gyre_u32 team_size, gyre_u64 *first)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u64 next = 0, ready = 0;
    gyre_u32 taken = 0, polls = 0;
    if (lane == 0) {
        next = gyre_device_load_(&cursor->next);
        ready = gyre_device_load_(&cursor->ready);
        if (next < ready) {
            gyre_u64 share = (ready - next + team_size - 1) / team_size;
            share = share < most ? share : most;
            if (atomicCAS(&cursor->next, next, next + share) == next)
                taken = (gyre_u32)share;
        } else {
            polls = atomicCAS(&cursor->poller, 0u, 1u) == 0;
        }
    }
    taken = __shfl_sync(gyre_first_warp_(), taken, 0);
    *first = __shfl_sync(gyre_first_warp_(), next, 0);
    if (__shfl_sync(gyre_first_warp_(), polls, 0)) {
        ready = gyre_device_load_(&cursor->ready); /* nobody else raises it while this block polls */
        const gyre_u32 found = gyre_look_(queue, ready, 32);
        if (lane == 0) {
            if (found) {
                __threadfence();
                atomicExch(&cursor->ready, ready + found);
            }
            __threadfence();
            atomicExch(&cursor->poller, 0u);
        }
    }
    return taken;
}

/*
 * Warp 0 looks at the queues in turn until there is work or another order; leaves queue, index and count in
 * the view. A queue of this block alone that had something at the first look has a backlog: the next windows
 * are widened. Its first lane has the order and the queue's `drop_before` under way while the look is.
 */
GYRE_HELPER void gyre_find_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_u32 most)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u32 found = 0, polls = 0, changed = 0, which = view->which;
    gyre_u64 first = 0, drop_before = 0;
    while (!found && !changed) {
        gyre_served *queue = &view->served[which];
        const gyre_u32 asks = lane == 0 && polls % 16 == 0;
        gyre_u64 order = view->order;
        if (asks)
            order = gyre_word_load_(&arguments.orders->order);
        if (lane == 0)
            drop_before = gyre_word_load_(queue->drop_before);
        if (view->team_size > 1) { /* a share that was taken has to be served, so the order comes first */
            changed = __shfl_sync(gyre_first_warp_(), order != view->order, 0);
            if (!changed)
                found = gyre_find_together_(&arguments.cursors[queue->entry], queue, most, view->team_size,
                                            &first);
        } else {
            first = queue->next;
            found = gyre_look_(queue, first, 1);
            changed = __shfl_sync(gyre_first_warp_(), order != view->order, 0);
        }
        if (found)
            break;
        which = which + 1 < view->queue_count ? which + 1 : 0;
        polls++;
        gyre_rest_(arguments.pause_ns);
    }
    if (changed)
        found = 0; /* what was seen stays where it is */
    if (lane == 0) {
        view->which = which;
        view->go = found ? which + 1 : GYRE_GO_ORDER;
        view->count = found;
        view->claimed = first;
        view->drop_before = drop_before;
        view->eager = view->team_size == 1 && polls == 0;
    }
}

/* All threads look at a slot each: how many requests from the queue's position on are there. */
GYRE_HELPER void gyre_widen_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_u32 most)
{
    const gyre_served *queue = &view->served[view->go - 1];
    const gyre_u64 first = queue->next;
    gyre_u64 order = 0, drop_before = 0;
    if (threadIdx.x == 0)
        view->first_bad = most;
    __syncthreads();
    if (threadIdx.x == 0) {
        order = gyre_word_load_(&arguments.orders->order);
        drop_before = gyre_word_load_(queue->drop_before);
    }
#pragma unroll 1
    for (gyre_u32 slot = threadIdx.x; slot < most; slot += blockDim.x)
        if (gyre_word_load_(&gyre_request_at_(queue, first + slot)->sequence) != first + slot + 1)
            atomicMin(&view->first_bad, slot);
    __syncthreads();
    if (threadIdx.x == 0) {
        view->claimed = first;
        view->count = order == view->order ? view->first_bad : 0;
        view->drop_before = drop_before;
        view->eager = view->count > 1;
    }
    __syncthreads();
}

/* The next requests, as gyre_next_window_ tells; view->count may be 0. All threads. 0: another order. */
GYRE_HELPER int gyre_find_requests_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_u32 most)
{
    __syncthreads();
    const gyre_u32 eager = view->eager;
    __syncthreads();
    if (eager && most > 1) {
        gyre_widen_window_(arguments, view, most);
        return 1;
    }
    if (threadIdx.x < 32)
        gyre_find_window_(arguments, view, most);
    __syncthreads();
    return view->go != GYRE_GO_ORDER;
}

#endif
