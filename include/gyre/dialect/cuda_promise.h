/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues whose messages are stored back to back (gyre_bridge in ring_layout.h): where their bytes lie, and
 * room for their replies. A part (cuda_resident.h): once a run. Included by cuda_seek.h.
 *
 * All workers of a queue share its one track, by words of its cursor in device memory. Who claims requests is
 * promised room for the largest replies to them; who delivers replies allots what they need and gives the
 * promise back, so that delivering never waits. What else there is to know of such a queue is in its row of
 * the relay, whence it is loaded once a run: the block's view has no room for it.
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

/* What lies `offset` bytes behind the start of the queue's region, the offset being a word of the row. */
GYRE_HELPER gyre_u8 *gyre_bridge_place_(const gyre_control_queue *row, const gyre_u64 *offset)
{
    return (gyre_u8 *)gyre_near_load_(&row->address) + gyre_near_load_(offset);
}

/* What the host says of a track that this kernel has not seen before. By one thread. */
GYRE_HELPER void gyre_open_track_(const gyre_control_queue *row, const gyre_u8 *region,
                                  gyre_cuda_cursor *cursor)
{
    const gyre_u64 words = gyre_near_load_(&row->bridge.words_offset);
    cursor->head = cursor->promised = cursor->tail = 0;
    if (words == 0 || gyre_near_half_load_(&row->bridge.tracks) == 0)
        return;
    const gyre_bridge_track *track = (const gyre_bridge_track *)(region + words + sizeof(gyre_bridge_words));
    cursor->head = gyre_word_load_(&track->head);
    cursor->tail = gyre_word_load_(&track->tail);
}

/* Bytes of the largest reply in the track. */
GYRE_HELPER gyre_u64 gyre_bridge_largest_(const gyre_block_view *view)
{
    return (view->stage.reply_chunks - 1) * 16;
}

/* Gives back the room that was promised for `count` of the largest replies of queue `which`. */
GYRE_HELPER void gyre_bridge_withdraw_(const gyre_block_view *view, gyre_u32 which, gyre_u32 count)
{
    atomicAdd(&view->cursors[view->served[which].entry].promised, 0ull - count * gyre_bridge_largest_(view));
}

/* How many of the largest replies fit behind what is allotted and promised. */
GYRE_HELPER gyre_u32 gyre_bridge_fits_(gyre_u64 taken, gyre_u64 tail, gyre_u64 size, gyre_u64 each,
                                       gyre_u32 wanted)
{
    const gyre_u64 used = taken - tail;
    if (used >= size)
        return 0;
    const gyre_u64 fits = (size - used) / each;
    return fits < wanted ? (gyre_u32)fits : wanted;
}

/* What a promise says beside how many requests may be taken: the one reply goes to the spare place. */
#define GYRE_PROMISE_SPARE_ 0x80000000u

/*
 * Promises room for the replies to as many of `wanted` requests of queue `which` from index `first` on as
 * there is some for. None: the spare place may have the reply to the first, when the host received all before
 * it. The head is read after the promise is made, and whoever allots raises it before it withdraws: so the
 * sum of both is never taken for less than it is. By one thread.
 */
GYRE_APART_ gyre_u32 gyre_bridge_promise_(gyre_block_view *view, gyre_u32 which, gyre_u64 first,
                                          gyre_u32 wanted)
{
    GYRE_IN_SHARED_(view);
    const gyre_served *queue = &view->served[which];
    const gyre_control_queue *row = gyre_bridge_row_(view, queue);
    gyre_cuda_cursor *cursor = &view->cursors[queue->entry];
    const gyre_u64 each = gyre_bridge_largest_(view), size = gyre_near_half_load_(&row->bridge.reply_bytes);
    const gyre_u64 promised = atomicAdd(&cursor->promised, each * wanted);
    __threadfence();
    const gyre_u64 taken = promised + gyre_near_load_(&cursor->head);
    gyre_u32 fits = gyre_bridge_fits_(taken, gyre_near_load_(&cursor->tail), size, each, wanted);
    if (fits == wanted)
        return fits;
    const gyre_bridge_words *words =
        (const gyre_bridge_words *)gyre_bridge_place_(row, &row->bridge.words_offset);
    const gyre_u64 tail = gyre_word_load_(&((const gyre_bridge_track *)(words + 1))->tail);
    const gyre_u64 received = gyre_word_load_(&words->received);
    gyre_fence_system_(); /* what lies below them was read before they were stored */
    atomicMax(&cursor->tail, tail);
    fits = gyre_bridge_fits_(taken, tail, size, each, wanted);
    gyre_bridge_withdraw_(view, which, wanted - fits);
    if (fits > 0)
        return fits;
    if (received == first)
        return 1 | GYRE_PROMISE_SPARE_;
    gyre_ask_(view, GYRE_SEEK_ASK_HOST_CLOCKS); /* the host may want something else meanwhile */
    return 0;
}

#endif
