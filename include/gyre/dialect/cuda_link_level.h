/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of links, in files that are compiled with GYRE_LEVELS, which implies GYRE_LIMITED: a block takes a run of the highest level that
 * has messages. One of GYRE_LEVEL_TURNS runs begins at the inlet whose turn it is, whatever its level: the arithmetic of cycles, and
 * whoever waits for a message, counts on that. Included by cuda_link_find.h.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LEVEL_H
#define GYRE_DIALECT_CUDA_LINK_LEVEL_H

#if !GYRE_LEVELS
#define GYRE_LINK_SEEK_ALL_(links, room, mask) gyre_link_seek_all_((links), (room), (mask))
#else
#define GYRE_LINK_SEEK_ALL_(links, room, mask) gyre_link_seek_levels_((links), (room), (mask))

/* The two are parts of gyre_link_seek_all_, whose machine code they would change if it called them. */

/* What a lane sees of inlet `number`, with its next message. *there: that message is there. */
GYRE_HELPER gyre_link_in_ gyre_link_see_(const gyre_link_view_ *links, gyre_u32 number, gyre_u32 *there)
{
    gyre_link_in_ in = number < GYRE_LINK_INLETS ? links->inlets[number] : gyre_link_in_load_(links, number);
    if (in.share)
        in.next = gyre_link_key_next_(in, in.next);
    else if (gridDim.x > 1 && number < GYRE_LINK_INLETS)
        in.next = gyre_near_load_(&in.ring->claimed);
    *there = gyre_link_is_filled_(in, in.next);
    return in;
}

/* Takes messages of the inlet that lane `from` sees. Returns whether the block has a run. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_take_seen_(gyre_link_view_ *links, const gyre_link_in_ &in, gyre_u32 number,
                                          gyre_u32 from, gyre_u32 room, gyre_u32 mask)
{
    const gyre_link_in_ picked = {(gyre_link_ring *)gyre_shuffle_(mask, (gyre_u64)in.ring, from),
                                  (const gyre_u8 *)gyre_shuffle_(mask, (gyre_u64)in.slots, from),
                                  gyre_shuffle_(mask, in.next, from),
                                  __shfl_sync(mask, in.mask, (int)from),
                                  __shfl_sync(mask, in.stride, (int)from),
                                  __shfl_sync(mask, in.share, (int)from),
                                  0};
    const gyre_u32 which = __shfl_sync(mask, number, (int)from);
    return picked.share ? gyre_link_key_claim_(links, picked, which, room, mask)
                        : gyre_link_claim_(links, picked, which, room, mask);
}

/* The inlets that a look is for: those of levels [low, high]; whether levels count among them; and where it begins. */
struct gyre_link_wanted_ {
    gyre_u32 low, high, in_turn, begin;
};

/* Takes messages of one of the inlets that the lanes see, of the highest level first. */
GYRE_HELPER gyre_u32 gyre_link_take_highest_(gyre_link_view_ *links, const gyre_link_wanted_ &wanted,
                                             const gyre_link_in_ &in, gyre_u32 number, gyre_u32 there,
                                             gyre_u32 room, gyre_u32 mask)
{
    const gyre_u32 high = wanted.in_turn ? 0 : wanted.high, own = wanted.in_turn ? 0 : in.level;
#pragma unroll 1
    for (gyre_u32 above = 0; above <= high; above++) {
        gyre_u32 left = __ballot_sync(mask, there && own == high - above);
#pragma unroll 1
        for (; left; left &= left - 1)
            if (gyre_link_take_seen_(links, in, number, (gyre_u32)__ffs((int)left) - 1, room, mask))
                return 1;
    }
    return 0;
}

/* Looks at the inlets that are wanted, 32 at a time. */
GYRE_HELPER gyre_u32 gyre_link_seek_wanted_(gyre_link_view_ *links, const gyre_link_wanted_ &wanted,
                                            gyre_u32 room, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask), count = links->inlet_count;
    gyre_u32 number = (blockIdx.x + wanted.begin + lane) % count;
#pragma unroll 1
    for (gyre_u32 done = 0; done < count; done += lanes) {
        gyre_link_in_ in = {0, 0, 0, 0, 0, 0, 0};
        gyre_u32 there = 0;
        if (done + lane < count)
            in = gyre_link_see_(links, number, &there);
        there = there && in.level >= wanted.low && in.level <= wanted.high;
        if (gyre_link_take_highest_(links, wanted, in, number, there, room, mask))
            return 1;
        number = (number + lanes) % count;
    }
    return 0;
}

/* Looks at all links. More than a warp sees at once are looked at level by level. Returns whether the block has a run. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_link_seek_levels_(gyre_link_view_ *links, gyre_u32 room, gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 turn = links->turn, in_turn = turn % GYRE_LEVEL_TURNS == GYRE_LEVEL_TURNS - 1;
    const gyre_u32 all = in_turn || links->inlet_count <= (gyre_u32)__popc(mask);
#pragma unroll 1
    for (gyre_u32 level = all ? 0 : GYRE_LEVEL_MAX;; level--) {
        const gyre_link_wanted_ wanted = {level, all ? (gyre_u32)GYRE_LEVEL_MAX : level, in_turn,
                                          in_turn ? turn / GYRE_LEVEL_TURNS : turn};
        if (gyre_link_seek_wanted_(links, wanted, room, mask))
            return 1;
        if (level == 0)
            return 0;
    }
}
#endif

#endif
