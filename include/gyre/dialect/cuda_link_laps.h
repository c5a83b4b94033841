/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the block that ends a flow finds the index of the flow's request, which the completion says. Included by cuda_links.h.
 *
 * The block that takes a request writes its index into the flow. A fence between that and the message that goes on cost a chain a
 * microsecond for each lone request, and a tenth of its rate. Without it the index may be seen late: then the flow shows that of an
 * earlier request at the same place, some laps of the queue's ring ago. So the origin says the lower bits of the lap (GYRE_ORIGIN_LAP),
 * and whoever reads the index adds the laps that are missing. Each request writes its index, whatever becomes of it, so not as many
 * laps are missing as the bits can say. The first lap of a queue in a table of links finds anything there, and has the fence.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LAPS_H
#define GYRE_DIALECT_CUDA_LINK_LAPS_H

/* The origin of a flow that begins with request `index` of an entry, whose queue has `mask` + 1 slots. */
GYRE_HELPER gyre_u64 gyre_lap_origin_(gyre_u32 entry, gyre_u64 index, gyre_u32 mask)
{
    const gyre_u64 lap = index >> __popc(mask) & GYRE_ORIGIN_LAPS;
    return GYRE_ORIGIN_SOLE | GYRE_ORIGIN_OF(entry, (gyre_u32)index & mask) | lap << GYRE_ORIGIN_LAP_AT;
}

/* The index of the request that began a flow. `entries`: of the block's view. */
GYRE_HELPER gyre_u64 gyre_flow_index_(const void *entries, gyre_u64 origin)
{
    const gyre_link_entry_ *entry = (const gyre_link_entry_ *)entries + GYRE_ORIGIN_TABLE(origin);
    const gyre_u64 seen = gyre_near_load_(&entry->flows[GYRE_ORIGIN_PLACE(origin)].index);
    const gyre_u32 missing = (GYRE_ORIGIN_LAP(origin) - (gyre_u32)(seen >> entry->lap_shift)) & GYRE_ORIGIN_LAPS;
    return seen + ((gyre_u64)missing << entry->lap_shift);
}

/*
 * Whether what request `index` causes has to wait until the index is there, and all else that the kernel wrote: where an entry needs
 * more than others, its flow has more to show.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_lap_waits_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u64 index)
{
    return K::gyre_its_buffers_size_ > sizeof(gyre_none) || links->needs ||
           index < links->entries[GYRE_ORIGIN_TABLE(origin)].settled;
}

#endif
