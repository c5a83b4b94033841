/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries whose flows have more than a completion: times, seals, or a client in another program. Included by cuda_links.h.
 *
 * What another program can write is read once: a request is in its cell, and its header is copied behind the flows, before anybody
 * looks at them. Such a client may fill a slot too early, while the flow of its place is under way: a flow is busy until it is
 * settled, and a request whose place is busy is passed over.
 *
 * Who settles the last message of a flow notes its time, seals its reply, and ends its being busy, before the completion goes out.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_ENTRY_H
#define GYRE_DIALECT_CUDA_LINK_ENTRY_H

enum gyre_link_admitted_ {
    GYRE_ADMITTED = 0,
    GYRE_ADMITTED_BUSY,    /* the request is passed over, without a completion */
    GYRE_ADMITTED_DAMAGED, /* its seal does not hold */
};

/* Copies the header of the request to where all stages read it. */
GYRE_HELPER void gyre_link_copy_header_(const gyre_link_entry_ *entry, gyre_u32 place)
{
    const gyre_u64 at = (gyre_u64)place * entry->header_size;
#pragma unroll 1
    for (gyre_u32 i = 0; i < entry->header_size; i += 8)
        gyre_near_store_((gyre_u64 *)(entry->headers + at + i), gyre_header_u64_(entry->sent + at + i));
}

/* Whether a request, as it was taken, has its sender's seal. */
GYRE_HELPER gyre_u32 gyre_link_seal_holds_(const gyre_link_entry_ *entry, gyre_u32 place, const gyre_slot *in)
{
    gyre_u32 state = 0xffffffffu;
    const gyre_u8 *const header = entry->headers + (gyre_u64)place * entry->header_size;
#pragma unroll 1
    for (gyre_u32 i = 0; i < entry->header_size; i += 8) {
        const gyre_u64 word = gyre_header_u64_(header + i);
        state = gyre_crc32c_word_(state, (gyre_u32)word, 4);
        state = gyre_crc32c_word_(state, (gyre_u32)(word >> 32), 4);
    }
    return ~gyre_crc32c_(state, in + 1, in->length) == gyre_half_load_(entry->seals + place);
}

/* Begins the flow of a request that lies in a cell. Called by one thread. */
GYRE_OUTLINE_ gyre_link_admitted_ gyre_link_admit_(const gyre_link_view_ *links, gyre_u64 origin,
                                                   const gyre_slot *in, gyre_u32 length_holds)
{
    const gyre_link_entry_ *entry = &links->entries[GYRE_ORIGIN_TABLE(origin)];
    const gyre_u32 place = GYRE_ORIGIN_PLACE(origin);
    gyre_flow *flow = entry->flows + place;
    if (entry->foreign && atomicExch(&flow->busy, 1u))
        return GYRE_ADMITTED_BUSY;
    if (entry->foreign)
        __threadfence(); /* what is written for this flow comes behind all that was of the last one */
    if (entry->headers != entry->sent)
        gyre_link_copy_header_(entry, place);
    if (entry->stamps)
        gyre_near_store_(&flow->started_ns, gyre_time_ns(0));
    if (length_holds && entry->seals && !gyre_link_seal_holds_(entry, place, in))
        return GYRE_ADMITTED_DAMAGED;
    return GYRE_ADMITTED;
}

/* Seals the reply in `out` for the client of the flow. */
GYRE_HELPER void gyre_link_seal_reply_(const gyre_link_entry_ *entry, gyre_u64 origin, const gyre_slot *out)
{
    gyre_u32 *const to = entry->seals + GYRE_SEALS_ROUND(entry->capacity) + GYRE_ORIGIN_PLACE(origin);
    const gyre_u32 seal = gyre_seal_of_reply_(out + 1, out->length);
    asm volatile("st.relaxed.sys.global.u32 [%0],%1;" ::"l"(to), "r"(seal) : "memory");
}

/* Ends a flow, whose completion goes out next. `in_place`: its reply is there already, and was sealed. Called by one thread. */
GYRE_OUTLINE_ void gyre_link_close_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u64 index,
                                    const gyre_slot *out, gyre_u32 in_place)
{
    const gyre_link_entry_ *entry = &links->entries[GYRE_ORIGIN_TABLE(origin)];
    gyre_flow *flow = entry->flows + GYRE_ORIGIN_PLACE(origin);
    if (entry->seals && out->info == GYRE_OUTCOME_REPLY && !in_place)
        gyre_link_seal_reply_(entry, origin, out);
    if (entry->stamps) {
        gyre_stamp *stamp = entry->stamps + GYRE_ORIGIN_PLACE(origin);
        const gyre_chunk first = {index + 1, gyre_near_load_(&flow->started_ns)};
        const gyre_chunk second = {gyre_time_ns(0), index + 1};
        gyre_chunk_store_(&stamp->sequence, first);
        gyre_chunk_store_(&stamp->finished_ns, second);
    }
    if (entry->foreign) {
        __threadfence(); /* what this stage read and wrote of the flow comes before */
        gyre_near_half_store_(&flow->busy, 0);
    }
    gyre_fence_system_(); /* all of this is there before the completion */
}

#endif
