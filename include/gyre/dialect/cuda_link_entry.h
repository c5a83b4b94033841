/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries that need more than others: those of other programs, and those whose messages have times or checksums. Included by
 * cuda_links.h.
 *
 * A program that shares the memory of its queue may fill a slot again before the flow of the slot's last request is settled, and
 * may write a header at any time. So the block that takes a request marks the flow as busy and copies the header to the flow, where
 * all stages read it. A request whose place is busy is passed over: it gets no completion. The mark is taken back before the
 * completion leaves, and once no mark is left the host may free the queue. Requests themselves are copied whatever their sender
 * is (gyre_link_fetch_), and replies are built in cells that were zeroed.
 *
 * A stage of a pipeline without such entries looks at one word of the block's (gyre_link_view_.needs), once a run or a completion.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_ENTRY_H
#define GYRE_DIALECT_CUDA_LINK_ENTRY_H

/** What became of a request that was taken. */
enum gyre_begun_ {
    GYRE_BEGUN_BUSY_ = 0, /* it is passed over */
    GYRE_BEGUN_ = 1,
    GYRE_BEGUN_DAMAGED_ = 2 /* its checksum is wrong */
};

/* An entry in the table of links, which the host wrote and nobody changes. */
GYRE_HELPER const gyre_link_entry *gyre_entry_there_(const gyre_link_view_ *links, gyre_u64 origin)
{
    return &links->table->entries[GYRE_ORIGIN_TABLE(origin)];
}

/* Copies the header of a request to its flow: no stage reads the one that another program can write. */
GYRE_HELPER void gyre_entry_take_header_(const gyre_link_view_ *links, gyre_u64 origin)
{
    const gyre_link_entry *there = gyre_entry_there_(links, origin);
    const gyre_link_entry_ *entry = gyre_entry_of_(links, origin);
    const gyre_u64 behind = (gyre_u64)GYRE_ORIGIN_PLACE(origin) * entry->header_size;
    const gyre_u8 *from = (const gyre_u8 *)gyre_near_load_(&there->region) +
                          gyre_near_load_(&there->slots.headers_offset) + behind;
#pragma unroll 1
    for (gyre_u32 i = 0; i < entry->header_size; i += 8)
        gyre_near_store_((gyre_u64 *)(entry->headers + behind + i),
                         gyre_word_load_((const gyre_u64 *)(from + i)));
}

#if GYRE_SEALED
/* Where the checksum of a request of the entry lies, or (`replies`) that of a reply. */
GYRE_HELPER gyre_u32 *gyre_entry_seal_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u32 replies)
{
    const gyre_queue_slots *slots = &gyre_entry_there_(links, origin)->slots;
    const gyre_u64 capacity = gyre_near_load_(&slots->capacity);
    const gyre_u64 end =
        gyre_near_load_(&slots->headers_offset) + capacity * gyre_entry_of_(links, origin)->header_size;
    const gyre_u64 region = gyre_near_load_(&gyre_entry_there_(links, origin)->region);
    gyre_u32 *const seals =
        (gyre_u32 *)(region + (end + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE);
    return seals + (replies ? GYRE_SEALS_ROUND(capacity) : 0) + GYRE_ORIGIN_PLACE(origin);
}

/* Whether a request, as it was copied, has its sender's checksum. A length that no request has is told by others. */
GYRE_HELPER gyre_u32 gyre_entry_seal_holds_(const gyre_link_view_ *links, gyre_u64 origin,
                                            const gyre_slot *in, gyre_u32 size)
{
    const gyre_link_entry_ *entry = gyre_entry_of_(links, origin);
    const gyre_u8 *header = entry->headers + (gyre_u64)GYRE_ORIGIN_PLACE(origin) * entry->header_size;
    gyre_u32 state = 0xffffffffu;
    if (in->length > size)
        return 1;
#pragma unroll 1
    for (gyre_u32 i = 0; i < entry->header_size; i += 8) {
        const gyre_u64 word = gyre_word_load_((const gyre_u64 *)(header + i));
        state = gyre_crc32c_word_(state, (gyre_u32)word, 4);
        state = gyre_crc32c_word_(state, (gyre_u32)(word >> 32), 4);
    }
    return ~gyre_crc32c_(state, in + 1, in->length) == gyre_half_load_(gyre_entry_seal_(links, origin, 0));
}

/* Stores the checksum of a reply before it is copied out. A fence follows, before the completion leaves. */
GYRE_HELPER void gyre_entry_seal_reply_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_slot *out)
{
    if (!(gyre_entry_of_(links, origin)->needs & GYRE_NEEDS_SEALS_))
        return;
    const gyre_u32 seal = gyre_seal_of_reply_(out + 1, out->length);
    asm volatile("st.relaxed.sys.global.u32 [%0],%1;" ::"l"(gyre_entry_seal_(links, origin, 1)), "r"(seal)
                 : "memory");
}
#else
#define gyre_entry_seal_holds_(links, origin, in, size) 1
#define gyre_entry_seal_reply_(links, origin, out)      ((void)0)
#endif

/*
 * Begins the flow of a request that was taken. `in`: the copy of the request; `size`: of the kernel's requests. Called by one thread
 * when links->needs is not 0.
 */
GYRE_OUTLINE_ gyre_u32 gyre_entry_begin_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_slot *in,
                                         gyre_u32 size)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 needs = gyre_entry_of_(links, origin)->needs;
    gyre_flow *flow = gyre_flow_of_(links, origin);
    if (needs & GYRE_NEEDS_CARE_ && atomicExch_system(&flow->busy, 1u))
        return GYRE_BEGUN_BUSY_;
    if (needs & GYRE_FOREIGN_RING)
        gyre_entry_take_header_(links, origin);
    if (needs & GYRE_NEEDS_STAMPS_)
        gyre_near_store_(&flow->started_ns, gyre_time_ns(0));
    return needs & GYRE_NEEDS_SEALS_ && !gyre_entry_seal_holds_(links, origin, in, size) ? GYRE_BEGUN_DAMAGED_
                                                                                         : GYRE_BEGUN_;
}

/* Stores when the request was taken, and when its flow is settled. */
GYRE_HELPER void gyre_entry_stamp_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u64 index)
{
    const gyre_link_entry *there = gyre_entry_there_(links, origin);
    gyre_stamp *stamp =
        (gyre_stamp *)(gyre_near_load_(&there->region) + gyre_near_load_(&there->slots.stamps_offset)) +
        GYRE_ORIGIN_PLACE(origin);
    const gyre_chunk first = {index + 1, gyre_near_load_(&gyre_flow_of_(links, origin)->started_ns)};
    const gyre_chunk second = {gyre_time_ns(0), index + 1};
    gyre_chunk_store_(&stamp->sequence, first);
    gyre_chunk_store_(&stamp->finished_ns, second);
}

/*
 * Ends a flow whose completion is `out`, except that it has not left: behind this comes a fence (gyre_link_complete_all_). `to`: as
 * in gyre_link_message_. Called by the thread that settles the flow's last message, when links->needs is not 0.
 */
GYRE_OUTLINE_ void gyre_entry_end_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u64 index, gyre_u64 to,
                                   const gyre_slot *out)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 needs = gyre_entry_of_(links, origin)->needs;
    if (needs & GYRE_NEEDS_STAMPS_)
        gyre_entry_stamp_(links, origin, index);
    if (out->info == GYRE_OUTCOME_REPLY && !(to & 1))
        gyre_entry_seal_reply_(links, origin, out);
    if (needs & GYRE_NEEDS_CARE_)
        atomicExch_system(&gyre_flow_of_(links, origin)->busy, 0u);
}

#endif
