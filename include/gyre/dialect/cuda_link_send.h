/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the messages of a run leave: what was emitted is published in the block's rings, and completions go to the host.
 * Included by cuda_links.h.
 *
 * Four neighbouring lanes (a quad) move one message of a line together, so that the line is written by one instruction.
 * Each lane of a quad has its turn as the one whose messages are moved.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_SEND_H
#define GYRE_DIALECT_CUDA_LINK_SEND_H

#define GYRE_LINE_CHUNKS 4

/* The length of a message that a handler wrote. */
GYRE_HELPER gyre_u32 gyre_link_length_(const gyre_link_out_ *out, const gyre_u8 *message)
{
    const gyre_u32 said = GYRE_FIRST_WORD_(message + GYRE_SLOT_HEADER_SIZE + GYRE_LINK_FRONT_(out->type));
    return GYRE_REPLY_LENGTH_(out->type.least, out->type.size, said);
}

/* Stores where the block writes next, which others read for statistics. Called by one thread for each port. */
GYRE_HELPER void gyre_link_advance_(gyre_link_out_ *out, gyre_u64 head)
{
    if (out->use == GYRE_PORT_UNWIRED || head == out->head || !GYRE_LINK_IS_COUNTED_(out))
        return;
    GYRE_POOL_SHOW_(out, (gyre_u32)(head - out->head));
    out->head = out->next = head;
    gyre_near_store_(&out->ring->head, head);
    if (out->use == GYRE_PORT_LINKED || out->heard)
        return;
    out->tail = head; /* thrown away: nobody fetches it */
    gyre_near_store_(&out->ring->tail, head);
}

/* ---- what lanes emitted ---- */

/* The messages that one lane emitted to a port. */
struct gyre_link_given_ {
    const gyre_u8 *from;
    gyre_u64 origin, first; /* first: the index of the first of them in the ring */
    gyre_u32 count, stride; /* stride: from one to the next, where the lane has them */
};

GYRE_HELPER gyre_chunk gyre_link_head_(const gyre_link_given_ &given, gyre_u32 number, gyre_u32 length)
{
    return {given.origin, (given.first + number + 1) << 32 | length};
}

GYRE_HELPER gyre_u8 *gyre_link_slot_(const gyre_link_out_ *out, gyre_u64 index)
{
    return out->slots + (index & out->mask) * out->stride;
}

/* Whether a slot lies in one line. */
GYRE_HELPER gyre_u32 gyre_link_by_line_(const gyre_link_out_ *out)
{
    return out->stride <= GYRE_LINE_SIZE && (out->stride & (out->stride - 1)) == 0;
}

/* Moves a quad's part of a message: with the header if a slot lies in one line, otherwise without it. */
GYRE_HELPER void gyre_link_move_(const gyre_link_out_ *out, const gyre_link_given_ &given, gyre_u32 number)
{
    const gyre_u8 *from = given.from + number * given.stride;
    gyre_u8 *to = gyre_link_slot_(out, given.first + number);
    const gyre_u32 part = threadIdx.x & 3, chunks = given.stride / 16;
    if (gyre_link_by_line_(out)) {
        gyre_chunk chunk = gyre_link_head_(given, number, gyre_link_length_(out, from));
        if (part > 0 && part < chunks)
            chunk = *(const gyre_chunk *)(from + 16 * part);
        if (part < chunks)
            gyre_near_chunk_store_(to + 16 * part, chunk); /* one instruction for the line */
        return;
    }
#pragma unroll 1
    for (gyre_u32 chunk = part ? part : GYRE_LINE_CHUNKS; chunk < chunks; chunk += GYRE_LINE_CHUNKS)
        gyre_near_chunk_store_(to + 16 * chunk, *(const gyre_chunk *)(from + 16 * chunk));
}

/* What lane `giver` of the warp gave. */
GYRE_HELPER gyre_link_given_ gyre_link_given_by_(const gyre_link_given_ &mine, gyre_u32 giver)
{
    return {(const gyre_u8 *)gyre_shuffle_(GYRE_ALL_LANES, (gyre_u64)mine.from, giver),
            gyre_shuffle_(GYRE_ALL_LANES, mine.origin, giver),
            gyre_shuffle_(GYRE_ALL_LANES, mine.first, giver),
            __shfl_sync(GYRE_ALL_LANES, mine.count, (int)giver), mine.stride};
}

/*
 * Moves all messages of one lane, in slots that lie in a line: eight neighbours by one instruction, which are one piece of memory. What
 * crosses a bus goes in few large packets this way. Only the low half of given.first counts. Called by a whole warp.
 */
GYRE_HELPER void gyre_link_move_bundle_(const gyre_link_out_ *out, const gyre_link_given_ &given)
{
    enum { AT_ONCE = 4 };
    const gyre_u32 part = threadIdx.x & 3, own = (threadIdx.x & 31) >> 2, least = out->type.least;
    const gyre_u32 mask = out->mask, stride = out->stride, size = out->type.size;
    gyre_u8 *const slots = out->slots + 16 * part;
    const gyre_u8 *const from = given.from + 16 * part;
    if (part * 16 >= given.stride)
        return;
#pragma unroll 1
    for (gyre_u32 base = own; base < given.count; base += 8 * AT_ONCE) {
        gyre_chunk chunks[AT_ONCE];
#pragma unroll
        for (gyre_u32 i = 0; i < AT_ONCE; i++) {
            const gyre_u32 number = base + 8 * i;
            const gyre_u8 *line = from + (number < given.count ? number : own) * given.stride;
            const gyre_u32 said = least == size ? size : GYRE_FIRST_WORD_(line + GYRE_SLOT_HEADER_SIZE);
            chunks[i] =
                *(const gyre_chunk *)line; /* of the first part too, so that lanes of a quad do not part */
            if (part == 0)
                chunks[i] = {given.origin,
                             (given.first + number + 1) << 32 | GYRE_REPLY_LENGTH_(least, size, said)};
        }
#pragma unroll
        for (gyre_u32 i = 0; i < AT_ONCE; i++) {
            const gyre_u32 number = base + 8 * i;
            if (number < given.count) /* one instruction for the line */
                gyre_near_chunk_store_(slots + (gyre_u64)(((gyre_u32)given.first + number) & mask) * stride,
                                       chunks[i]);
        }
    }
}

/* Publishes what the lanes of a warp emitted to one port. Called by a whole warp. */
GYRE_OUTLINE_ void gyre_link_send_(const gyre_link_out_ *out, gyre_link_given_ mine)
{
    GYRE_IN_SHARED_(out);
    const gyre_u32 lane = threadIdx.x & 31, givers = __ballot_sync(GYRE_ALL_LANES, mine.count);
    if (gyre_link_by_line_(out) && __any_sync(GYRE_ALL_LANES, mine.count >= GYRE_LINK_BUNDLE)) {
#pragma unroll 1
        for (gyre_u32 left = givers; left; left &= left - 1)
            gyre_link_move_bundle_(out, gyre_link_given_by_(mine, (gyre_u32)__ffs((int)left) - 1));
        return;
    }
#pragma unroll 1
    for (gyre_u32 turn = 0; turn < 4; turn++) {
        const gyre_u32 giver = (lane & ~3u) + turn;
        if (!(givers & 0x11111111u << turn))
            continue;
        const gyre_link_given_ given = gyre_link_given_by_(mine, giver);
#pragma unroll 1
        for (gyre_u32 number = 0; __any_sync(GYRE_ALL_LANES, number < given.count); number++)
            if (number < given.count)
                gyre_link_move_(out, given, number);
    }
    if (gyre_link_by_line_(out))
        return;
    gyre_link_fence_(out->far);
    __syncwarp();
#pragma unroll 1
    for (gyre_u32 number = 0; number < mine.count; number++) {
        const gyre_u8 *from = mine.from + number * mine.stride;
        gyre_near_chunk_store_(gyre_link_slot_(out, mine.first + number),
                               gyre_link_head_(mine, number, gyre_link_length_(out, from)));
    }
}

/* Returns the sum of `mine` over the lanes up to this one. Called by a whole warp. */
GYRE_HELPER gyre_u32 gyre_link_scan_(gyre_u32 mine)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const gyre_u32 below = __shfl_up_sync(GYRE_ALL_LANES, mine, step);
        if ((int)(threadIdx.x & 31) >= step)
            mine += below;
    }
    return mine;
}

#include "gyre/dialect/cuda_link_copies.h"

/* The sum of what warps [0, end) emit to a port. */
GYRE_HELPER gyre_u32 gyre_link_total_(const gyre_link_view_ *links, gyre_u32 port, gyre_u32 end)
{
    gyre_u32 total = 0;
#pragma unroll 1
    for (gyre_u32 warp = 0; warp < end; warp++)
        total += *(const volatile gyre_u32 *)&links->totals[port * 16 + warp];
    return total;
}

/* Publishes what the first warp emitted to one port, when it handles a run alone. */
GYRE_HELPER void gyre_link_publish_warp_(gyre_link_out_ *out, const gyre_cuda_port &port, gyre_u64 origin,
                                         gyre_u32 mine)
{
    if (!__any_sync(GYRE_ALL_LANES, mine))
        return;
    const gyre_u32 sum = gyre_link_scan_(mine), total = __shfl_sync(GYRE_ALL_LANES, sum, 31);
    const gyre_u64 head = out->head;
    if (out->use == GYRE_PORT_LINKED)
        gyre_link_send_(out, {port.slots, origin, head + sum - mine, mine, port.stride});
    __syncwarp(); /* all lanes have read the head */
    if (threadIdx.x == 0)
        gyre_link_advance_(out, head + total);
}

/*
 * Publishes what the first `count` lanes of a block emitted to a port, one message each at most, in slots that lie in a line.
 * `mine`: of this lane; its count is 0 if nothing of it leaves. `pitch`: from the messages of a lane to those of the next.
 * Each lane puts the header on its message, and four lanes move the line of one message.
 */
GYRE_OUTLINE_ void gyre_link_send_lines_(const gyre_link_out_ *out, gyre_link_given_ mine, gyre_u32 count,
                                         gyre_u32 pitch)
{
    GYRE_IN_SHARED_(out);
    gyre_u8 *const message = (gyre_u8 *)mine.from, *const slots = out->slots;
    const gyre_u8 *const messages = message - (gyre_u64)threadIdx.x * pitch;
    const gyre_u32 part = threadIdx.x & 3, mask = out->mask, stride = out->stride;
    if (threadIdx.x < count)
        *(gyre_chunk *)message =
            mine.count ? gyre_link_head_(mine, 0, gyre_link_length_(out, message)) : gyre_chunk{0, 0};
    __syncthreads();
    if (part * 16 >= mine.stride)
        return;
#pragma unroll 4
    for (gyre_u32 number = threadIdx.x >> 2; number < count; number += blockDim.x >> 2) {
        const gyre_chunk *line = (const gyre_chunk *)(messages + (gyre_u64)number * pitch);
        const gyre_chunk head = line[0];
        const gyre_u32 at = ((gyre_u32)(head.y >> 32) - 1) & mask;
        if (head.x)
            gyre_near_chunk_store_(slots + (gyre_u64)at * stride + 16 * part, part ? line[part] : head);
    }
}

/*
 * Publishes what the first `count` lanes of a block emitted to a port, where each may emit many messages, in slots that lie in a line.
 * `mine`: of this lane; its count is 0 if nothing of it leaves. `pitch`: from the messages of a lane to those of the next. Each lane
 * says in the place of its first header what it emitted, and whole warps move it. `near`: that lies in shared memory. Called by all threads.
 */
template <bool near>
GYRE_OUTLINE_ void gyre_link_send_bundles_(const gyre_link_out_ *out, gyre_link_given_ mine, gyre_u32 count,
                                           gyre_u32 pitch)
{
    GYRE_IN_SHARED_(out);
    if (near)
        GYRE_IN_SHARED_(mine.from);
    const gyre_u8 *const all = mine.from - threadIdx.x * pitch;
    if (threadIdx.x < count)
        *(gyre_chunk *)mine.from = {mine.origin, mine.first << 32 | mine.count};
    __syncthreads();
#pragma unroll 1
    for (gyre_u32 giver = threadIdx.x >> 5; giver < count; giver += blockDim.x >> 5) {
        const gyre_u8 *const its = all + giver * pitch;
        const gyre_chunk said = *(const gyre_chunk *)its;
        gyre_link_move_bundle_(out, {its, said.x, said.y >> 32, (gyre_u32)said.y, mine.stride});
    }
}

/* Publishes what the lanes of a block emitted. */
template <class K>
GYRE_HELPER void gyre_link_publish_block_(gyre_link_view_ *links, const gyre_cuda_port *ports,
                                          const gyre_link_message_ &message)
{
    enum { count = gyre_link_shape_<K>::ports };
    gyre_u32 mine[count], before[count];
    const gyre_u32 warp = threadIdx.x >> 5;
#pragma unroll
    for (int i = 0; i < count; i++) {
        mine[i] = message.next ? ports[i].emitted : 0;
        const gyre_u32 sum = gyre_link_scan_(mine[i]);
        before[i] = sum - mine[i];
        if ((threadIdx.x & 31) == 31)
            links->totals[i * 16 + warp] = sum;
    }
    /* one fence for the accounts of all lanes: the fences of warps would wait for each other */
    if (__syncthreads_or((int)message.counted)) {
        if (threadIdx.x == 0)
            gyre_link_fence_(links->far);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < count; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u64 first = out->head + gyre_link_total_(links, i, warp) + before[i];
        const gyre_link_given_ given = {ports[i].slots, message.next, first, mine[i], ports[i].stride};
        if (K::gyre_its_ports_::of(i).most == 1 && out->use == GYRE_PORT_LINKED && gyre_link_by_line_(out) &&
            blockDim.x % 4 == 0)
            gyre_link_send_lines_(out, given, links->run.count, gyre_link_shape_<K>::pitch);
        else if (K::gyre_its_ports_::of(i).most >= GYRE_LINK_BUNDLE && out->use == GYRE_PORT_LINKED &&
                 gyre_link_by_line_(out) && blockDim.x % 32 == 0)
            gyre_link_send_bundles_<gyre_link_shape_<K>::emits_near>(out, given, links->run.count,
                                                                     gyre_link_shape_<K>::pitch);
        else if (out->use == GYRE_PORT_LINKED && __any_sync(GYRE_ALL_LANES, mine[i]))
            gyre_link_send_(out, given);
        else if (out->use == GYRE_PORT_TOPIC)
            gyre_link_send_copies_(links, i, given, (gyre_u32)(first - out->head),
                                   gyre_link_total_(links, i, blockDim.x >> 5));
    }
    __syncthreads(); /* all lanes have read the heads */
#pragma unroll 1
    for (gyre_u32 i = threadIdx.x; i < links->branch_count; i += blockDim.x)
        gyre_link_advance_branch_(&links->branches[i],
                                  gyre_link_total_(links, links->branches[i].port, blockDim.x >> 5));
    if (threadIdx.x < count)
        gyre_link_advance_(&links->outs[threadIdx.x],
                           links->outs[threadIdx.x].head +
                               gyre_link_total_(links, threadIdx.x, blockDim.x >> 5));
}

/*
 * Publishes what `threads` lanes emitted, in the order of the lanes. `message`: the one that this lane handled. Called by whole
 * warps.
 */
template <class K>
GYRE_HELPER void gyre_link_publish_(gyre_link_view_ *links, const gyre_cuda_port *ports,
                                    const gyre_link_message_ &message, gyre_u32 threads)
{
    if constexpr (gyre_link_shape_<K>::ports > 0) {
        if (threads > 32) {
            gyre_link_publish_block_<K>(links, ports, message);
            return;
        }
        if (__any_sync(GYRE_ALL_LANES, message.counted))
            gyre_link_fence_(links->far);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
            const gyre_u32 emitted = message.next ? ports[i].emitted : 0;
            if (links->outs[i].use == GYRE_PORT_TOPIC)
                gyre_link_publish_topic_(links, i, ports[i].slots, ports[i].stride, message.next, emitted);
            else
                gyre_link_publish_warp_(&links->outs[i], ports[i], message.next, emitted);
        }
    }
}

/* ---- what was emitted straight into the rings ---- */

/* Puts the headers on what one call emitted, without the sequences. Called by thread 0. */
template <class K>
GYRE_HELPER void gyre_link_place_(gyre_link_view_ *links, const gyre_cuda_port *ports, gyre_u64 origin)
{
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_cuda_port_type type = K::gyre_its_ports_::of(i);
        gyre_link_out_ *out = &links->outs[i];
        if (!origin || out->use == GYRE_PORT_UNWIRED)
            continue;
#pragma unroll 1
        for (gyre_u32 k = 0; k < ports[i].emitted && out->use != GYRE_PORT_NOWHERE; k++) {
            gyre_u8 *message = gyre_link_slot_(out, out->next + k);
            gyre_link_slot *slot = (gyre_link_slot *)message;
            slot->origin = origin; /* without a read of what was just written, where the length is known */
            slot->length = type.least == type.size ? type.size : gyre_link_length_(out, message);
        }
        out->next += ports[i].emitted;
    }
}

/* Publishes what the calls of a run in turn emitted. Called by all threads. */
GYRE_OUTLINE_ void gyre_link_publish_placed_(gyre_link_view_ *links)
{
    if (threadIdx.x == 0)
        gyre_link_fence_(links->far); /* what thread 0 wrote into the slots */
    __syncthreads();
    if (links->branch_count)
        gyre_link_publish_copies_(links);
#pragma unroll 1
    for (gyre_u32 i = 0; i < links->port_count; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u32 leaves = out->use == GYRE_PORT_LINKED || out->heard;
#pragma unroll 1
        for (gyre_u64 at = out->head + threadIdx.x; leaves && at < out->next; at += blockDim.x)
            gyre_near_half_store_(gyre_link_sequence_(out->slots, at, out->mask, out->stride),
                                  (gyre_u32)(at + 1));
    }
    __syncthreads();
    if (threadIdx.x == 0)
#pragma unroll 1
        for (gyre_u32 i = 0; i < links->port_count; i++)
            gyre_link_advance_(&links->outs[i], links->outs[i].next);
}

/* A run in which nothing was emitted or completed has nothing to publish: what ends a flow has fences of its own. */
#if GYRE_POOLS
#define GYRE_LINK_PUBLISH_(links, silent)                                                                    \
    do {                                                                                                     \
        if (silent)                                                                                          \
            __syncthreads();                                                                                 \
        else                                                                                                 \
            gyre_link_publish_placed_(links);                                                                \
    } while (0)
#else
#define GYRE_LINK_PUBLISH_(links, silent) gyre_link_publish_placed_(links)
#endif

/* ---- completions ---- */

/* Stores the payload of a quad's completions, of more than a line each. */
GYRE_HELPER void gyre_link_move_reply_(gyre_u64 to, const gyre_chunk *out)
{
    const gyre_u32 chunks = to && !(to & 1) ? 1 + (((const gyre_slot *)out)->length + 15) / 16 : 0;
#pragma unroll 1
    for (gyre_u32 chunk = 1 + (threadIdx.x & 3); chunk < chunks; chunk += 4)
        gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1) + chunk, out[chunk]);
}

/* Stores a completion by one lane: its payload, then its header. */
GYRE_HELPER void gyre_link_complete_alone_(gyre_u64 to, const gyre_chunk *out)
{
    const gyre_u32 chunks = to & 1 ? 0 : 1 + (((const gyre_slot *)out)->length + 15) / 16;
#pragma unroll 1
    for (gyre_u32 chunk = 1; chunk < chunks; chunk++)
        gyre_chunk_store_((gyre_chunk *)to + chunk, out[chunk]);
    gyre_fence_system_();
    gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1), out[0]);
}

/*
 * Stores the completions of a warp's messages: `mine` is this lane's reply, `cell` the chunks from one to the next, `to`
 * where it goes. `large`: replies may be larger than a line.
 */
GYRE_OUTLINE_ void gyre_link_complete_(const gyre_chunk *mine, gyre_u32 cell, gyre_u32 large, gyre_u64 to)
{
    const gyre_u32 mask = gyre_warp_lanes_(), lane = threadIdx.x & 31, part = lane & 3;
    gyre_settle_(to != 0);
    if (mask != GYRE_ALL_LANES) {
        if (to)
            gyre_link_complete_alone_(to, mine);
        return;
    }
    const gyre_u32 givers = __ballot_sync(mask, to != 0);
#pragma unroll 1
    for (gyre_u32 turn = 0; turn < 4; turn++) {
        const gyre_u32 giver = (lane & ~3u) + turn;
        if (!(givers & 0x11111111u << turn))
            continue;
        const gyre_u64 its = gyre_shuffle_(mask, to, giver);
        const gyre_chunk *out = mine + ((int)giver - (int)lane) * (int)cell;
        if (large)
            gyre_link_move_reply_(its, out);
        else if (its && (part == 0 || !(its & 1)))
            gyre_chunk_store_((gyre_chunk *)(its & ~(gyre_u64)1) + part, out[part]);
    }
    if (!large)
        return;
    gyre_fence_system_();
    __syncwarp();
    if (to)
        gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1), mine[0]);
}

#endif
