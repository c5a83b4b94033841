/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files that are compiled with GYRE_LIMITED have besides: a window for the flows of a pipeline, a message that is kept for
 * another call of its handler (GYRE_MORE), and memory of flows (GYRE_FLOW). Included by cuda_link_find.h. Without GYRE_LIMITED all of
 * it is constants.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LIMITS_H
#define GYRE_DIALECT_CUDA_LINK_LIMITS_H

#if GYRE_LIMITED

/* ---- the window ---- */

/* Whether a request of the queue may be taken now. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_is_open_(const gyre_link_view_ *links, gyre_u32 which, gyre_u32 mask)
{
    const gyre_link_entry_ *entry = &links->entries[links->entry_of[which] - 1];
    const gyre_served *queue = &links->view->served[which];
    gyre_u32 is_open = 1;
    if (!entry->admission)
        return 1;
    if ((threadIdx.x & 31) == 0)
        is_open = gyre_near_half_load_(&entry->admission->under_way) < entry->window ||
                  gyre_near_load_(&queue->claims->next) < *(volatile const gyre_u64 *)&queue->dropping;
    return __shfl_sync(mask, is_open, 0);
}

/* Counts up to `wanted` flows that begin. Returns how many may. Called by one thread. */
GYRE_HELPER gyre_u32 gyre_admission_take_(const gyre_link_entry_ *entry, gyre_u32 wanted)
{
    gyre_u32 *const under_way = &entry->admission->under_way;
    gyre_u32 seen = gyre_near_half_load_(under_way);
#pragma unroll 1
    while (seen < entry->window) {
        const gyre_u32 left = entry->window - seen, taken = wanted < left ? wanted : left;
        const gyre_u32 found = atomicCAS_system(under_way, seen, seen + taken);
        if (found == seen)
            return taken;
        seen = found;
    }
    return 0;
}

/* Counts flows that end, before their completions are published: who has all of them finds none under way. */
GYRE_HELPER void gyre_admission_give_(const gyre_link_view_ *links, const gyre_link_entry_ *entry,
                                      gyre_u32 count)
{
    if (!entry->admission)
        return;
    atomicSub_system(&entry->admission->under_way, count);
    gyre_link_fence_(links->far);
}

/* ---- the message that is kept ---- */

/*
 * Set in the origin with which a message is kept, and in no other one: a request's own origin, without GYRE_ORIGIN_SOLE, may be 0, which
 * would say that it belongs to no flow.
 */
#define GYRE_ORIGIN_KEPT_ ((gyre_u64)1 << (GYRE_ORIGIN_LAP_SHIFT + GYRE_ORIGIN_LAP_BITS))

#define GYRE_LINK_KEPT_FRONT                                                                                 \
    16 /* of the kept message: the number of its calls, then a slot as one of a link */

/* Makes the kept message the next run: as one of a link, whose place nobody gets back. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_take_kept_(gyre_link_view_ *links)
{
    if ((threadIdx.x & 31) == 0)
        links->run = {0, 0, 0, links->own + GYRE_LINK_KEPT_FRONT, 0, GYRE_RUN_LINK, 1, GYRE_LINK_OWN_SIZE, 0,
                      0, 0, 0};
    return 1;
}

#define GYRE_LINK_KEEPS_(links)                gyre_link_keeps_(links)
#define GYRE_LINK_IS_KEPT_(links)              ((links)->run.from == GYRE_RUN_LINK && !(links)->run.ring)
#define GYRE_LINK_IS_OPEN_(links, which, mask) gyre_link_is_open_((links), (which), (mask))

GYRE_HELPER gyre_u32 gyre_link_keeps_(const gyre_link_view_ *links)
{
    return *(volatile const gyre_u32 *)&links->kept;
}

#else
#define GYRE_LINK_KEEPS_(links)                0
#define GYRE_LINK_IS_KEPT_(links)              0
#define GYRE_LINK_IS_OPEN_(links, which, mask) 1

GYRE_HELPER gyre_u32 gyre_link_take_kept_(gyre_link_view_ *)
{
    return 0;
}
#endif

#endif
