/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues whose messages are stored back to back (bridged; gyre_bridge in ring_layout.h): where their bytes lie, and
 * room for their replies. A part (see cuda_resident.h): runs once a run of messages. Included by cuda_seek.h.
 *
 * All workers of a queue share its one track (its reply bytes). Workers claim requests only up to a limit; below the
 * limit there is room even if every reply has the largest size, so delivering never waits. A request counts with the
 * largest size until it is settled: a worker that delivers replies allots the bytes that they really need, and only
 * then counts their requests as settled. So a limit that was right once stays right, and is only ever raised. That is
 * why a claim touches no more words than in other queues. All other words of such a queue are in its row of the relay.
 * They are loaded from there once a run, because the block's view has no room for them.
 */
#ifndef GYRE_DIALECT_CUDA_PROMISE_H
#define GYRE_DIALECT_CUDA_PROMISE_H

GYRE_HELPER gyre_u16 gyre_bridged_(const gyre_control_queue *row)
{
    return (gyre_u16)((gyre_near_half_load_(&row->bridge.request_bytes) ? GYRE_BRIDGED_REQUESTS_ : 0) |
                      (gyre_near_half_load_(&row->bridge.reply_bytes) ? GYRE_BRIDGED_REPLIES_ : 0));
}

GYRE_HELPER const gyre_control_queue *gyre_bridge_row_(const gyre_block_view *view, const gyre_served *queue)
{
    return &view->relay->rows[queue->entry].row;
}

/* Returns the address `*offset` bytes behind the start of the queue's region; `offset` points to a word of the row. */
GYRE_HELPER gyre_u8 *gyre_bridge_place_(const gyre_control_queue *row, const gyre_u64 *offset)
{
    return (gyre_u8 *)gyre_near_load_(&row->address) + gyre_near_load_(offset);
}

/* Reads the host's head and tail of a track that this kernel has not seen before. Called by one thread. */
GYRE_HELPER void gyre_open_track_(const gyre_control_queue *row, const gyre_u8 *region,
                                  gyre_cuda_cursor *cursor)
{
    const gyre_u64 words = gyre_near_load_(&row->bridge.words_offset);
    cursor->head = cursor->tail = 0;
    if (words == 0 || gyre_near_half_load_(&row->bridge.tracks) == 0)
        return;
    const gyre_bridge_track *track = (const gyre_bridge_track *)(region + words + sizeof(gyre_bridge_words));
    cursor->head = gyre_word_load_(&track->head);
    cursor->tail = gyre_word_load_(&track->tail);
}

/* Bytes that the largest reply takes in the track. */
GYRE_HELPER gyre_u64 gyre_bridge_largest_(const gyre_block_view *view)
{
    return (view->stage.reply_chunks - 1) * 16;
}

/*
 * Returns the first index whose reply may find no room. This thread counts the settled requests before it reads the
 * head, and a worker that allots raises the head before it counts. So replies are assumed to need more bytes than they
 * do, never fewer. Called by one thread.
 */
GYRE_HELPER gyre_u64 gyre_bridge_limit_(const gyre_block_view *view, gyre_u32 which, gyre_u64 tail)
{
    const gyre_control_queue *row = gyre_bridge_row_(view, &view->served[which]);
    const gyre_cuda_cursor *cursor = &view->cursors[view->served[which].entry];
    const gyre_u64 size = gyre_near_half_load_(&row->bridge.reply_bytes);
    const gyre_u64 settled = gyre_near_load_(&cursor->settled);
    __threadfence();
    const gyre_u64 used = gyre_near_load_(&cursor->head) - tail;
    return settled + (used < size ? (size - used) / gyre_bridge_largest_(view) : 0);
}

/* Returns the host's word for the position below which bytes are free again. */
GYRE_HELPER const gyre_u64 *gyre_bridge_tail_(const gyre_block_view *view, gyre_u32 which)
{
    const gyre_control_queue *row = gyre_bridge_row_(view, &view->served[which]);
    const gyre_bridge_words *words =
        (const gyre_bridge_words *)gyre_bridge_place_(row, &row->bridge.words_offset);
    return &((const gyre_bridge_track *)(words + 1))->tail;
}

/* Makes known that the host freed all bytes below `tail`, which this thread loaded. */
GYRE_HELPER gyre_u64 gyre_bridge_free_(const gyre_block_view *view, gyre_u32 which, gyre_u64 tail)
{
    gyre_fence_system_(); /* the host read the bytes below the tail before it stored the tail */
    atomicMax(&view->cursors[view->served[which].entry].tail, tail);
    const gyre_u64 limit = gyre_bridge_limit_(view, which, tail);
    atomicMax(&view->served[which].claims->limit, limit);
    return limit;
}

/* A bit beside the number of requests that may be taken: the one reply goes to the spare place. */
#define GYRE_PROMISE_SPARE_ 0x80000000u

/*
 * Returns how many of `wanted` requests of queue `which` from index `first` on may be taken: first by what the device
 * knows, then by what the host says. If none has room, the spare place may hold the reply to the first request, once
 * the host has received all replies before it. Called by one thread.
 */
GYRE_APART_ gyre_u32 gyre_bridge_promise_(gyre_block_view *view, gyre_u32 which, gyre_u64 first,
                                          gyre_u32 wanted)
{
    GYRE_IN_SHARED_(view);
    const gyre_served *queue = &view->served[which];
    gyre_u64 limit = gyre_bridge_limit_(view, which, gyre_near_load_(&view->cursors[queue->entry].tail));
    if (limit >= first + wanted) {
        atomicMax(&queue->claims->limit, limit);
        return wanted;
    }
    const gyre_control_queue *row = gyre_bridge_row_(view, queue);
    const gyre_bridge_words *words =
        (const gyre_bridge_words *)gyre_bridge_place_(row, &row->bridge.words_offset);
    const gyre_u64 tail = gyre_word_load_(gyre_bridge_tail_(view, which));
    const gyre_u64 received = gyre_word_load_(&words->received);
    limit = gyre_bridge_free_(view, which, tail);
    if (limit > first)
        return limit - first < wanted ? (gyre_u32)(limit - first) : wanted;
    if (received == first)
        return 1 | GYRE_PROMISE_SPARE_;
    gyre_ask_(view, GYRE_SEEK_ASK_HOST_CLOCKS); /* the host may want something else meanwhile */
    return 0;
}

#ifndef GYRE_BRIDGE_ROWS
#define GYRE_BRIDGE_ROWS 16 /* rows of 32 slots that a far look ahead reads */
#endif

/* Looks once across the bus from index `next` on; returns how many requests are there. Called by a warp of 32. */
GYRE_APART_ gyre_u32 gyre_bridge_look_(const gyre_served *queue, gyre_u64 next)
{
    const gyre_u32 mask = gyre_first_warp_(), lane = threadIdx.x & 31;
    gyre_u64 sequences[GYRE_BRIDGE_ROWS];
    gyre_u32 found = 0, full = 1;
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_BRIDGE_ROWS; row++) {
        sequences[row] = 0;
        if (row * 32 + lane <= queue->mask)
            sequences[row] = gyre_word_load_(&gyre_request_at_(queue, next + row * 32 + lane)->sequence);
    }
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_BRIDGE_ROWS; row++) {
        const gyre_u32 there = __ballot_sync(mask, sequences[row] == next + row * 32 + lane + 1);
        if (full)
            found += there == 0xffffffffu ? 32 : (gyre_u32)__ffs((int)~there) - 1;
        full = full && there == 0xffffffffu;
    }
    return found;
}

#endif
