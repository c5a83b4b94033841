/* SPDX-License-Identifier: Apache-2.0 */
/* How subscribers of topics get what was emitted, each a copy in its own ring. Included by cuda_link_send.h. */
#ifndef GYRE_DIALECT_CUDA_LINK_COPIES_H
#define GYRE_DIALECT_CUDA_LINK_COPIES_H

/* Stores where the block writes next, and what the subscriber missed of `emitted` messages. Called by one thread. */
GYRE_HELPER void gyre_link_advance_branch_(gyre_link_branch_ *branch, gyre_u32 emitted)
{
    const gyre_u32 accepted = gyre_link_accepted_(branch, emitted);
    if (!branch->in_place)
        gyre_link_advance_(&branch->out, branch->out.head + accepted);
    if (accepted == emitted)
        return;
    gyre_u64 *missed = &branch->out.ring->missed;
    gyre_near_store_(missed, gyre_near_load_(missed) + (emitted - accepted));
    if (branch->gate)
        gyre_near_half_store_(&branch->gate->cut, 1);
}

/*
 * Gives the subscribers of a port what the lanes of a warp emitted to it. `before`: messages of the run that come before this lane's;
 * `total`: all of the run. Called by a whole warp.
 */
GYRE_OUTLINE_ void gyre_link_send_copies_(const gyre_link_view_ *links, gyre_u32 port, gyre_link_given_ mine,
                                          gyre_u32 before, gyre_u32 total)
{
    GYRE_IN_SHARED_(links);
    if (!__any_sync(GYRE_ALL_LANES, mine.count))
        return;
#pragma unroll 1
    for (gyre_u32 i = 0; i < links->branch_count; i++) {
        const gyre_link_branch_ *branch = &links->branches[i];
        if (branch->port != port)
            continue;
        const gyre_u32 accepted = gyre_link_accepted_(branch, total);
        gyre_link_given_ its = mine;
        its.origin = gyre_link_branch_origin_(branch, mine.origin);
        its.first = branch->out.head + before;
        if (its.count > accepted) /* else all messages of the run are accepted */
            its.count = accepted;
        if (accepted)
            gyre_link_send_(&branch->out, its);
    }
}

/* Publishes what the first warp emitted to a topic, when it handles a run alone. */
GYRE_OUTLINE_ void gyre_link_publish_topic_(gyre_link_view_ *links, gyre_u32 number, gyre_u8 *slots,
                                            gyre_u32 stride, gyre_u64 origin, gyre_u32 mine)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 sum = gyre_link_scan_(mine), total = __shfl_sync(GYRE_ALL_LANES, sum, 31);
    gyre_link_send_copies_(links, number, {slots, origin, 0, mine, stride}, sum - mine, total);
    __syncwarp(); /* all lanes have read the heads */
    for (gyre_u32 i = threadIdx.x; i < links->branch_count; i += 32)
        if (links->branches[i].port == number)
            gyre_link_advance_branch_(&links->branches[i], total);
#if GYRE_LIMITED
    if (threadIdx.x == 0)
        gyre_link_advance_(&links->outs[number], links->outs[number].head + total);
#endif
    __syncwarp();
}

/* ---- of what was emitted straight into a port's ring ---- */

/* How many messages lie in the ring of the branch's port. */
GYRE_HELPER gyre_u32 gyre_link_placed_(const gyre_link_view_ *links, const gyre_link_branch_ *branch)
{
    const gyre_link_out_ *own = &links->outs[branch->port];
    return (gyre_u32)(own->next - own->head);
}

/* Copies the payloads. Called by all threads. */
GYRE_HELPER void gyre_link_copy_placed_(const gyre_link_out_ *own, const gyre_link_out_ *to, gyre_u32 count)
{
    const gyre_u32 pitch = to->stride / 16 - 1;
#pragma unroll 1
    for (gyre_u32 i = threadIdx.x; i < count * pitch; i += blockDim.x) {
        const gyre_u32 number = i / pitch, at = 16 * (1 + i % pitch);
        const gyre_u8 *from = gyre_link_slot_(own, own->head + number);
        if (at < GYRE_SLOT_HEADER_SIZE + gyre_near_half_load_(&((const gyre_link_slot *)from)->length))
            gyre_near_chunk_store_(gyre_link_slot_(to, to->head + number) + at,
                                   gyre_near_chunk_load_(from + at));
    }
}

/* Puts the headers on the copies, with their sequences. Called by all threads. */
GYRE_HELPER void gyre_link_head_placed_(const gyre_link_branch_ *branch, const gyre_link_out_ *own,
                                        gyre_u32 count)
{
    const gyre_link_out_ *to = &branch->out;
#pragma unroll 1
    for (gyre_u32 i = threadIdx.x; i < count; i += blockDim.x) {
        const gyre_chunk head = gyre_near_chunk_load_(gyre_link_slot_(own, own->head + i));
        const gyre_chunk copy = {gyre_link_branch_origin_(branch, head.x),
                                 (to->head + i + 1) << 32 | (gyre_u32)head.y};
        gyre_near_chunk_store_(gyre_link_slot_(to, to->head + i), copy);
    }
}

/* Gives the subscribers what the calls of a run in turn emitted. Called by all threads, which have met. */
GYRE_OUTLINE_ void gyre_link_publish_copies_(gyre_link_view_ *links)
{
    GYRE_IN_SHARED_(links);
#pragma unroll 1
    for (gyre_u32 heads = 0; heads < 2; heads++) {
#pragma unroll 1
        for (gyre_u32 i = 0; i < links->branch_count; i++) {
            const gyre_link_branch_ *branch = &links->branches[i];
            const gyre_link_out_ *own = &links->outs[branch->port];
            const gyre_u32 count =
                branch->in_place ? 0 : gyre_link_accepted_(branch, gyre_link_placed_(links, branch));
            if (heads)
                gyre_link_head_placed_(branch, own, count);
            else
                gyre_link_copy_placed_(own, &branch->out, count);
        }
        if (!heads)
            gyre_link_fence_(links->far); /* payloads before sequences */
        __syncthreads();
    }
    if (threadIdx.x == 0)
#pragma unroll 1
        for (gyre_u32 i = 0; i < links->branch_count; i++)
            gyre_link_advance_branch_(&links->branches[i], gyre_link_placed_(links, &links->branches[i]));
}

#endif
