/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of pools (docs/adr/pools.md), in files that are compiled with GYRE_POOLS = 1: how a block of a member finds some, and takes it.
 * Included by cuda_link_find.h. Without GYRE_POOLS all of it is constants.
 *
 * A look reads all rings at once, a lane each. The block's own work goes first, then the fullest ring: one victim after the other at
 * random reached a fifth of what this did. Of a ring whose messages leave in their order a block takes a share of what waits, so the last
 * messages are taken one by one. Of a ring with GYRE_POOL_NEWEST it takes one: more of them would let a tree grow in breadth.
 *
 * `ends` is what the owner and thieves agree on (tests/models/link_pool.pml). What was emitted is fenced before the owner raises it; a thief
 * reads the message behind its exchange. The owner's newest message is in its cell before the handler runs, which may emit into its place.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_POOL_H
#define GYRE_DIALECT_CUDA_LINK_POOL_H

#if !GYRE_POOLS
#define GYRE_LINK_SEEK_(links, room, mask) gyre_link_seek_((links), (room), (mask))
#define GYRE_POOL_STAYS_(run)              0
#define GYRE_POOL_SHOW_(out, count)        ((void)0)
#else
#define GYRE_LINK_SEEK_(links, room, mask) gyre_pool_seek_((links), (room), (mask))
#define GYRE_POOL_STAYS_(run)              ((run).stays)
#define GYRE_POOL_SHOW_(out, count)        gyre_pool_show_((out), (count))

#define GYRE_POOL_UPPER_      32 /* the bit at which the upper half of `ends` begins */
/* How good a ring is to take from: its messages, except the block's own work, and links that are of no pool. */
#define GYRE_POOL_SCORE_OWN_  0x2000u
#define GYRE_POOL_SCORE_LINK_ 0x4000u /* every fourth run; otherwise the least score, 1 */
#define GYRE_POOL_SCORE_MOST_ 0x1fffu
#define GYRE_POOL_LINK_TURNS_ 4
#define GYRE_POOL_ROWS_       4 /* rings that a lane reads at once */

/* ---- looking ---- */

GYRE_HELPER gyre_u32 gyre_pool_between_(gyre_u64 ends)
{
    return (gyre_u32)(ends >> GYRE_POOL_UPPER_) - (gyre_u32)ends;
}

/* The ring, with the first message that nobody claimed, of a link that is of no pool. */
GYRE_HELPER gyre_link_in_ gyre_pool_in_(const gyre_link_view_ *links, gyre_u32 number)
{
    gyre_link_in_ in = number < GYRE_LINK_INLETS ? links->inlets[number] : gyre_link_in_load_(links, number);
    if (in.share)
        in.next = gyre_link_key_next_(in, in.next);
    else if (gridDim.x > 1 && !in.pool)
        in.next = gyre_near_load_(&in.ring->claimed);
    return in;
}

/** What a lane has asked of a ring: its words, which may be under way. */
struct gyre_pool_asked_ {
    gyre_u64 first,
        head; /* of a ring with GYRE_POOL_NEWEST: first has both ends; of a link: whether a message is there */
    gyre_u32 pool; /* as gyre_link_in_ has it */
};

GYRE_HELPER gyre_pool_asked_ gyre_pool_ask_(const gyre_link_view_ *links, gyre_u32 number)
{
    const gyre_link_in_ in = gyre_pool_in_(links, number);
    gyre_pool_asked_ asked = {0, 0, in.pool};
    if (!in.pool) {
        asked.first = gyre_link_is_filled_(in, in.next);
    } else if (in.pool & GYRE_POOL_NEWEST) {
        asked.first = gyre_near_load_(&in.ring->ends);
    } else {
        asked.first = gyre_near_load_(&in.ring->claimed);
        asked.head = gyre_near_load_(&in.ring->head);
    }
    return asked;
}

GYRE_HELPER gyre_u32 gyre_pool_score_(const gyre_link_view_ *links, const gyre_pool_asked_ &asked)
{
    gyre_u32 waiting = 0;
    if (!asked.pool)
        return !asked.first ? 0 : links->turn % GYRE_POOL_LINK_TURNS_ ? 1 : GYRE_POOL_SCORE_LINK_;
    if (asked.pool & GYRE_POOL_NEWEST)
        waiting = gyre_pool_between_(asked.first);
    else if (asked.head > asked.first)
        waiting = (gyre_u32)(asked.head - asked.first);
    if (waiting && asked.pool >> GYRE_POOL_OWNER_SHIFT_)
        return GYRE_POOL_SCORE_OWN_;
    return waiting < GYRE_POOL_SCORE_MOST_ ? waiting : GYRE_POOL_SCORE_MOST_;
}

/* The lane whose score is the highest. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_pool_best_lane_(gyre_u32 score, gyre_u32 mask)
{
    gyre_u32 best = mask;
#pragma unroll 1
    for (gyre_u32 bit = GYRE_POOL_SCORE_LINK_; bit; bit >>= 1) {
        const gyre_u32 with = __ballot_sync(mask, score & bit) & best;
        best = with ? with : best;
    }
    return (gyre_u32)__ffs((int)best) - 1;
}

/* ---- taking ---- */

/* Makes messages the next run. Called by lane 0. */
GYRE_HELPER void gyre_pool_run_(gyre_link_view_ *links, const gyre_link_in_ &in, gyre_u32 number,
                                gyre_u64 first, gyre_u32 count, gyre_u32 stays)
{
    gyre_link_window *window = gyre_link_window_(links, number);
    links->run = {first,     in.mask, 0, in.slots, in.ring, GYRE_RUN_LINK, count,
                  in.stride, number,  0, 0,        0,       stays};
    gyre_near_add_(&window->taken, count);
    if (in.pool & GYRE_POOL_OWN && !(in.pool >> GYRE_POOL_OWNER_SHIFT_))
        gyre_near_add_(&window->stolen, count);
}

/*
 * Takes the newest message of the block's own ring, or the oldest one of another block's. Returns 0 if there is none any more.
 * Called by lane 0.
 */
GYRE_HELPER gyre_u32 gyre_pool_take_end_(gyre_link_view_ *links, const gyre_link_in_ &in, gyre_u32 number)
{
    const gyre_u32 owner = in.pool >> GYRE_POOL_OWNER_SHIFT_;
    const gyre_u64 upper = (gyre_u64)0xffffffffu << GYRE_POOL_UPPER_;
    gyre_u64 ends = gyre_near_load_(&in.ring->ends);
    gyre_u32 taken = 0;
#pragma unroll 1
    while (!taken && gyre_pool_between_(ends)) {
        const gyre_u64 next =
            owner ? ends - ((gyre_u64)1 << GYRE_POOL_UPPER_) : (ends & upper) | ((gyre_u32)ends + 1);
        const gyre_u64 found = atomicCAS(&in.ring->ends, ends, next);
        taken = found == ends;
        ends = found;
    }
    if (!taken)
        return 0;
    __threadfence(); /* the message is read behind the exchange: pairs with the fence in gyre_pool_show_ */
    gyre_u64 first = (gyre_u32)ends;
    if (owner) {
        gyre_link_out_ *out = &links->outs[owner - 1];
        out->head = out->next = first = out->head - 1;
        gyre_near_store_(&out->ring->head, first);
    }
    gyre_pool_run_(links, in, number, first, 1, owner);
    return 1;
}

/* How many of `left` messages a block takes: a part of what each taker might, so the last ones go one by one. */
GYRE_HELPER gyre_u32 gyre_pool_share_(const gyre_link_in_ &in, gyre_u64 left, gyre_u32 room)
{
    const gyre_u64 share = left / (2 * GYRE_POOL_TAKERS(in.pool)) + 1;
    return share < room ? (gyre_u32)share : room;
}

/* Waits until messages that were claimed are seen: they were stored before the ring's head, which no fence orders. */
GYRE_HELPER void gyre_pool_await_(const gyre_link_in_ &in, gyre_u64 first, gyre_u32 count, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
#pragma unroll 1
    for (gyre_u32 i = lane; i < count; i += lanes)
#pragma unroll 1
        while (!gyre_link_is_filled_(in, first + i)) {
        }
    __syncwarp(mask);
}

/*
 * Takes a share of the messages of a ring that leave in their order. Where others are quicker it goes on from where they are: each
 * exchange tells. Returns 0 if there is none any more. Called by the first warp.
 */
GYRE_HELPER gyre_u32 gyre_pool_claim_(gyre_link_view_ *links, const gyre_link_in_ &in, gyre_u32 number,
                                      gyre_u32 room, gyre_u32 mask)
{
    gyre_u64 first = 0;
    gyre_u32 taken = 0;
    if ((threadIdx.x & 31) == 0) {
        gyre_u64 next = gyre_near_load_(&in.ring->claimed);
        const gyre_u64 head = gyre_near_load_(&in.ring->head);
#pragma unroll 1
        while (!taken && next < head) {
            const gyre_u32 share = gyre_pool_share_(in, head - next, room);
            first = next;
            next = atomicCAS(&in.ring->claimed, first, first + share);
            taken = next == first ? share : 0;
        }
        if (taken)
            gyre_pool_run_(links, in, number, first, taken, 0);
    }
    taken = __shfl_sync(mask, taken, 0);
    if (taken)
        gyre_pool_await_(in, gyre_shuffle_(mask, first, 0), taken, mask);
    return taken;
}

/* Takes messages of the inlet. Returns whether the block has a run. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_pool_take_(gyre_link_view_ *links, gyre_u32 number, gyre_u32 room, gyre_u32 mask)
{
    const gyre_link_in_ in = gyre_pool_in_(links, number);
    if (in.share)
        return gyre_link_key_claim_(links, in, number, room, mask);
    if (!in.pool) {
        gyre_link_in_ same = in; /* lanes may have read different words */
        same.next = gyre_shuffle_(mask, in.next, 0);
        return gyre_link_claim_(links, same, number, room, mask);
    }
    if (!(in.pool & GYRE_POOL_NEWEST))
        return gyre_pool_claim_(links, in, number, room, mask);
    gyre_u32 ours = 0;
    if ((threadIdx.x & 31) == 0)
        ours = gyre_pool_take_end_(links, in, number);
    return __shfl_sync(mask, ours, 0);
}

/* Looks at all links once. Returns whether the block has a run. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_pool_seek_(gyre_link_view_ *links, gyre_u32 room, gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask), count = links->inlet_count;
    const gyre_u32 start =
        count ? (blockIdx.x + links->turn) % count : 0; /* of equals not all take the same */
    gyre_u32 best = 0, score = 0;
#pragma unroll 1
    for (gyre_u32 base = lane; base < count; base += GYRE_POOL_ROWS_ * lanes) {
        gyre_pool_asked_ asked[GYRE_POOL_ROWS_] = {};
#pragma unroll
        for (gyre_u32 row = 0; row < GYRE_POOL_ROWS_; row++)
            if (base + row * lanes < count)
                asked[row] = gyre_pool_ask_(links, (start + base + row * lanes) % count);
#pragma unroll
        for (gyre_u32 row = 0; row < GYRE_POOL_ROWS_; row++) {
            const gyre_u32 its = gyre_pool_score_(links, asked[row]);
            best = its > score ? (start + base + row * lanes) % count : best;
            score = its > score ? its : score;
        }
    }
    const gyre_u32 chosen = gyre_pool_best_lane_(score, mask);
    if (!__any_sync(mask, score))
        return 0;
    return gyre_pool_take_(links, __shfl_sync(mask, best, (int)chosen), room, mask);
}

/* ---- emitting ---- */

/* Shows messages to the thieves of a ring, which the block has emitted. Called by one thread, behind a barrier of those that wrote them. */
GYRE_HELPER void gyre_pool_show_(const gyre_link_out_ *out, gyre_u32 count)
{
    if (!(out->pool & GYRE_POOL_NEWEST))
        return;
    __threadfence(); /* the messages are there before they are shown */
    atomicAdd(&out->ring->ends, (gyre_u64)count << GYRE_POOL_UPPER_);
}
#endif

#endif
