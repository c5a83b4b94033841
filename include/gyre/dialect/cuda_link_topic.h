/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topics: how many messages of a run each subscriber gets. Included by cuda_link_find.h.
 *
 * A subscriber that is waited for has room for all that the run may emit, or there is no run. One that may miss messages has room
 * for all of them, or for none, or the run is one message: so what it gets is known from what a message emits, and lanes need not
 * agree about it. A publisher thus goes on one message at a time only while such a ring is almost full.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_TOPIC_H
#define GYRE_DIALECT_CUDA_LINK_TOPIC_H

/* Whether messages of the subscriber belong to no flow. */
GYRE_HELPER gyre_u32 gyre_link_is_outside_(const gyre_link_branch_ *branch)
{
#if GYRE_LIMITED
    return branch->slow == GYRE_BRANCH_TAP || branch->is_client;
#else
    return branch->slow == GYRE_BRANCH_TAP;
#endif
}

/* The origin of the subscriber's copy. */
GYRE_HELPER gyre_u64 gyre_link_branch_origin_(const gyre_link_branch_ *branch, gyre_u64 origin)
{
    return gyre_link_is_outside_(branch) ? (origin & ~GYRE_ORIGIN_SOLE) | GYRE_ORIGIN_TAP : origin;
}

/*
 * Of a subscriber that may miss messages: notes for how many there is room. Returns how many messages of `room` the run may have.
 * Called by the first warp.
 */
GYRE_HELPER gyre_u32 gyre_link_branch_left_(gyre_link_branch_ *branch, gyre_u32 room, gyre_u32 mask)
{
    const gyre_u32 is_cut = __shfl_sync(mask, branch->gate ? gyre_near_half_load_(&branch->gate->cut) : 0, 0);
    const gyre_u32 fits = is_cut ? 0 : gyre_link_make_room_(&branch->out, room, mask);
    const gyre_u32 left = is_cut ? 0 : branch->out.mask + 1 - (gyre_u32)(branch->out.head - branch->out.tail);
    if ((threadIdx.x & 31) == 0)
        branch->left = left;
    if (left && fits < room)
        return fits ? fits : 1;
    return room;
}

/* Returns how many messages of `room` have room at all subscribers that are waited for. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_link_topic_room_(gyre_link_view_ *links, gyre_u32 room, gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
#pragma unroll 1
    for (gyre_u32 i = 0; i < links->branch_count && room; i++) {
        gyre_link_branch_ *branch = &links->branches[i];
        if (branch->slow != GYRE_BRANCH_WAIT) {
            room = gyre_link_branch_left_(branch, room, mask);
        } else if (!branch->in_place) {
            const gyre_u32 fits = gyre_link_make_room_(&branch->out, room, mask);
            room = fits < room ? fits : room;
        }
    }
    __syncwarp(mask);
    return room;
}

/* How many messages the subscriber gets of those that one call, or the run, emitted to its topic. */
GYRE_HELPER gyre_u32 gyre_link_accepted_(const gyre_link_branch_ *branch, gyre_u32 emitted)
{
    if (branch->slow == GYRE_BRANCH_WAIT || emitted <= branch->left)
        return emitted;
    return branch->slow == GYRE_BRANCH_CUT ? 0 : branch->left;
}

/* Returns for how many messages to subscribers a flow waits, of a call that emitted so many to a port. */
GYRE_OUTLINE_ gyre_u32 gyre_link_topic_sent_(const gyre_link_view_ *links, gyre_u32 port, gyre_u32 emitted)
{
    GYRE_IN_SHARED_(links);
    gyre_u32 sent = 0;
#pragma unroll 1
    for (gyre_u32 i = 0; i < links->branch_count; i++) {
        const gyre_link_branch_ *branch = &links->branches[i];
        if (branch->port == port && !gyre_link_is_outside_(branch))
            sent += gyre_link_accepted_(branch, emitted);
    }
    return sent;
}

#endif
