/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a backlog of a kernel without ports, replies, state and buffers is settled (cuda_link_drain.h). Such a kernel only counts messages off
 * their flows, which takes longer than all else of a window where flows lie on another device. So nobody waits for what the operations
 * of a window bring back before the next window is handled, and there is no fence where handlers wrote nothing. Other kernels settle
 * a window within it, as these words take registers that they need. Included by cuda_links.h.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_SINK_H
#define GYRE_DIALECT_CUDA_LINK_SINK_H

/** Where a window lies in the block's memory. */
struct gyre_drain_places_ {
    gyre_chunk *lines; /* messages, which become completions; then what was emitted to each port */
    gyre_u64 *to;      /* of each message: where its completion goes */
    gyre_u32 rows;     /* loads of each thread; 0: there is too little memory */
};

/* Whether a kernel's windows are settled like that. */
template <class K> GYRE_HELPER constexpr bool gyre_sink_suits_()
{
    return gyre_lone_suits_<K>() && gyre_link_shape_<K>::ports == 0 && K::gyre_its_reply_size_ == 0 &&
           !K::gyre_its_memory_;
}

/*
 * In gyre_drain_places_.to: no address, but how many messages (bits 47 to 62) are to be counted off the flow of the origin in the bits
 * below. No address has bit 63.
 */
enum { GYRE_DRAIN_FEWER_SHIFT = GYRE_ORIGIN_LAP_SHIFT + GYRE_ORIGIN_LAP_BITS };
#define GYRE_DRAIN_OWES_         ((gyre_u64)1 << 63)
#define GYRE_DRAIN_FEWER_(owed)  ((gyre_u32)((owed) >> GYRE_DRAIN_FEWER_SHIFT) & 0xffffu)
#define GYRE_DRAIN_ORIGIN_(owed) ((owed) & (((gyre_u64)1 << GYRE_DRAIN_FEWER_SHIFT) - 1))

/** What a thread counted off flows for a window, which has two messages for each thread at most. */
struct gyre_sink_debt_ {
    gyre_u64 owed[GYRE_CUDA_LOADS / 4];   /* as in gyre_drain_places_.to; 0: nothing */
    gyre_u32 before[GYRE_CUDA_LOADS / 4]; /* what gyre_flow_add_ returned for it */
    gyre_u64 lap[GYRE_CUDA_LOADS / 4];    /* of the flow's entry, read when its messages were here */
};

/*
 * Whether the rows of this thread have a message that is its flow's only one: the window has to know laps of entries, and waits for their
 * journey.
 */
GYRE_HELPER gyre_u32 gyre_sink_has_sole_(const gyre_chunk *rows)
{
    gyre_u64 any = 0;
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_CUDA_LOADS; row++)
        any |= rows[row].x;
    return (threadIdx.x & 3) == 0 && any & GYRE_ORIGIN_SOLE;
}

/*
 * Makes what others noted in the flow visible to the caller, whose operation found that no message is left. The load reads what that
 * operation wrote. It is the last of an unbroken row of operations on the word, and each of the others stood behind its fence: so the load
 * synchronizes with all of them.
 */
GYRE_HELPER void gyre_sink_acquire_(gyre_flow *flow)
{
    asm volatile("{ .reg .u32 word; ld.acquire.sys.global.u32 word,[%0]; }" ::"l"(&flow->alive) : "memory");
}

/*
 * Counts the messages of a window off their flows, and reads the laps of those. gyre_sink_end_ follows. Called by all threads, behind a fence if
 * something was noted in flows, or buffers may have been written; a barrier follows.
 *
 * Nothing is acquired: an operation that acquires holds its warp up until it has come back, and the next operation with it.
 */
GYRE_HELPER void gyre_sink_begin_(const gyre_link_view_ *links, const gyre_drain_places_ &places,
                                  gyre_u32 count, gyre_sink_debt_ *debt)
{
#pragma unroll
    for (gyre_u32 i = 0; i < GYRE_CUDA_LOADS / 4; i++) {
        const gyre_u32 slot = threadIdx.x + i * blockDim.x;
        const gyre_u64 owed = slot < count ? places.to[slot] : 0, origin = GYRE_DRAIN_ORIGIN_(owed);
        debt->owed[i] = owed & GYRE_DRAIN_OWES_ ? owed : 0;
        if (!debt->owed[i])
            continue;
        places.to[slot] = 0;
        debt->before[i] = gyre_flow_add_(gyre_flow_of_(links, origin), 0 - GYRE_DRAIN_FEWER_(owed));
        debt->lap[i] = gyre_near_load_(&gyre_entry_head_(gyre_entry_of_(links, origin))->lap);
    }
}

/* Completes a flow of which nothing is alive, and in which something was noted. */
GYRE_OUTLINE_ void gyre_sink_complete_(const gyre_link_view_ *links, gyre_u64 origin)
{
    GYRE_IN_SHARED_(links);
    gyre_chunk line[GYRE_LINE_CHUNKS] = {};
    gyre_sink_acquire_(gyre_flow_of_(links, origin));
    const gyre_u64 to = gyre_account_end_(links, origin, (gyre_slot *)line);
    gyre_settle_(1);
    if (((gyre_slot *)line)->info == GYRE_OUTCOME_FAILED)
        gyre_link_complete_alone_(to, line);
    else
        gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1), line[0]);
}

/*
 * Completes the flows of which nothing is alive since gyre_sink_begin_. Where nothing was noted in a flow, which its word says, nothing of it is
 * read: each word would be a journey.
 */
GYRE_HELPER void gyre_sink_end_(const gyre_link_view_ *links, gyre_sink_debt_ *debt)
{
#pragma unroll
    for (gyre_u32 i = 0; i < GYRE_CUDA_LOADS / 4; i++) {
        const gyre_u64 origin = GYRE_DRAIN_ORIGIN_(debt->owed[i]);
        const gyre_u32 ends =
            debt->owed[i] && GYRE_FLOW_ALIVE_(debt->before[i]) == GYRE_DRAIN_FEWER_(debt->owed[i]);
        debt->owed[i] = 0;
        if (ends && (GYRE_ASKS || debt->before[i] != GYRE_FLOW_ALIVE_(debt->before[i]))) {
            gyre_sink_complete_(links, origin);
        } else if (ends) {
            gyre_chunk head;
            gyre_line_head_(&head, gyre_index_near_(gyre_entry_of_(links, origin), origin, debt->lap[i]), 0,
                            GYRE_OUTCOME_NO_REPLY);
            gyre_settle_(1);
            gyre_chunk_store_((gyre_chunk *)gyre_reply_of_(links, origin), head);
        }
    }
}

#endif
