/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the block that ends a flow finds the index of the flow's request, which the completion says. Included by cuda_links.h.
 *
 * A message says at which place of its queue the request lies (its origin), and the lower bits of the lap, that is how often the ring of
 * the queue had been used up before (GYRE_ORIGIN_LAP). The other bits are those of a word of the entry, `begun`, to which a block writes
 * how far it took requests, once a run. Nothing orders that word and the messages of the run. But each lap takes the client a journey
 * there and back, so whoever reads the word while the flow is under way finds a lap that is near. When each request wrote its index to
 * its flow, with a fence behind that, a chain needed a microsecond more for a lone request, and half as long again for a window of many.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LAPS_H
#define GYRE_DIALECT_CUDA_LINK_LAPS_H

/* The origin of a flow that begins with request `index` of entry number `entry`, whose queue has `mask` + 1 slots. */
GYRE_HELPER gyre_u64 gyre_lap_origin_(gyre_u32 entry, gyre_u64 index, gyre_u32 mask)
{
    const gyre_u64 lap = index >> __popc(mask) & GYRE_ORIGIN_LAPS;
    return GYRE_ORIGIN_SOLE | GYRE_ORIGIN_OF(entry, (gyre_u32)index & mask) | lap << GYRE_ORIGIN_LAP_AT;
}

GYRE_HELPER gyre_u64 gyre_lap_begun_(const gyre_link_entry_ *entry)
{
    return gyre_near_load_(&((const gyre_flow_head *)entry->flows - 1)->begun);
}

/* The index of the request that began a flow, whose entry has said `begun` while the flow was under way. */
GYRE_HELPER gyre_u64 gyre_lap_index_(const gyre_link_entry_ *entry, gyre_u64 origin, gyre_u64 begun)
{
    const gyre_u64 lap = begun >> entry->lap_shift;
    const signed char ahead = (signed char)(GYRE_ORIGIN_LAP(origin) - (gyre_u32)lap); /* or behind */
    return (lap + (gyre_u64)(long long)ahead) << entry->lap_shift | GYRE_ORIGIN_PLACE(origin);
}

/* The same, with a look at the word. `entries`: of the block's view. */
GYRE_HELPER gyre_u64 gyre_flow_index_(const void *entries, gyre_u64 origin)
{
    const gyre_link_entry_ *entry = (const gyre_link_entry_ *)entries + GYRE_ORIGIN_TABLE(origin);
    return gyre_lap_index_(entry, origin, gyre_lap_begun_(entry));
}

/* Whether what a request causes has to wait until what its kernel wrote besides is there. */
template <class K> GYRE_HELPER gyre_u32 gyre_lap_waits_(const gyre_link_view_ *links)
{
    return K::gyre_its_buffers_size_ > sizeof(gyre_none) || links->needs;
}

#endif
