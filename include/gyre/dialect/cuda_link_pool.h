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
/*
 * How good a ring is to take from: how many messages it has, as a power of two and the next bit, so that rings with about as many are
 * equal, and blocks do not all meet at one. The block's own work is better, and now and then links that are of no pool.
 */
#define GYRE_POOL_SCORE_OWN_  0x40u
#define GYRE_POOL_SCORE_LINK_ 0x80u /* every fourth run; otherwise the least score, 1 */
#define GYRE_POOL_LINK_TURNS_ 4
#define GYRE_POOL_LOST_       2 /* lost exchanges for each message that a block takes more */
#define GYRE_POOL_MANY_       2 /* messages for each taker that are many */
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

/* 2 for one message, 4 for 2, 5 for 3, 6 for 4 and 5, 7 for 6 and 7, and so on: below 64. */
GYRE_HELPER gyre_u32 gyre_pool_size_(gyre_u32 waiting)
{
    const gyre_u32 bits = 31 - (gyre_u32)__clz((int)waiting);
    return 2 * bits + 2 + (bits ? waiting >> (bits - 1) & 1 : 0);
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
    return waiting ? gyre_pool_size_(waiting) : 0;
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

/*
 * How many of `left` messages a block takes: a part of what each taker might, so the last ones go one by one. `more`: so many more,
 * as long as that is no more than its part.
 */
GYRE_HELPER gyre_u32 gyre_pool_share_(const gyre_link_in_ &in, gyre_u64 left, gyre_u32 room, gyre_u32 more)
{
    const gyre_u64 takers = GYRE_POOL_TAKERS(in.pool), part = left / takers + 1,
                   wanted = left / (2 * takers) + 1 + more, share = wanted < part ? wanted : part;
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
 * Keeps of the messages [first, first + share), which were claimed by an addition, those that are there, and returns their number. `head`: as it
 * was once. What
 * lies behind the head is given back, unless it came meanwhile, by who claimed last first: a claim behind this one is given back before, or
 * its messages are there, and then those of this one are, too. Called by lane 0.
 */
GYRE_HELPER gyre_u32 gyre_pool_keep_(const gyre_link_in_ &in, gyre_u64 first, gyre_u32 share, gyre_u64 head)
{
    const gyre_u64 end = first + share;
#pragma unroll 1
    while (head < end) {
        head = gyre_near_load_(&in.ring->head);
        const gyre_u64 kept = head > first ? head : first;
        if (head < end && atomicCAS(&in.ring->claimed, end, kept) == end)
            return (gyre_u32)(kept - first);
    }
    return share;
}

/*
 * Takes a share of the messages of a ring that leave in their order. While there are many, by an addition: of blocks that exchange a word one
 * succeeds in the time of a journey to memory, whatever their number, and 132 blocks that took runs of 32 tasks waited longer for that
 * than they worked. Of few messages an addition would claim more than there are, so they are taken by an exchange, which tells where others are
 * that were quicker; a block that lost several takes more. Returns 0 if there is none any more. Called by the first warp.
 */
GYRE_HELPER gyre_u32 gyre_pool_claim_(gyre_link_view_ *links, const gyre_link_in_ &in, gyre_u32 number,
                                      const gyre_pool_asked_ &asked, gyre_u32 room, gyre_u32 mask)
{
    gyre_u64 first = 0;
    gyre_u32 taken = 0;
    if ((threadIdx.x & 31) == 0) {
        gyre_u64 next = asked.first;
        const gyre_u64 head = asked.head;
        gyre_u32 lost = 0;
#pragma unroll 1
        while (!taken && next < head) {
            const gyre_u32 share = gyre_pool_share_(in, head - next, room, lost / GYRE_POOL_LOST_);
            if (head - next >= GYRE_POOL_MANY_ * GYRE_POOL_TAKERS(in.pool)) {
                first = atomicAdd(&in.ring->claimed, (gyre_u64)share);
                taken = gyre_pool_keep_(in, first, share, head);
                break;
            }
            first = next;
            next = atomicCAS(&in.ring->claimed, first, first + share);
            taken = next == first ? share : 0;
            lost++;
        }
        if (taken)
            gyre_pool_run_(links, in, number, first, taken, 0);
    }
    taken = __shfl_sync(mask, taken, 0);
    if (taken)
        gyre_pool_await_(in, gyre_shuffle_(mask, first, 0), taken, mask);
    return taken;
}

/* Takes messages of the inlet, which was `asked` a moment ago. Returns whether the block has a run. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_pool_take_(gyre_link_view_ *links, gyre_u32 number, const gyre_pool_asked_ &asked,
                                     gyre_u32 room, gyre_u32 mask)
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
        return gyre_pool_claim_(links, in, number, asked, room, mask);
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
    gyre_pool_asked_ said = {0, 0, 0}; /* by the best of them */
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
            said = its > score ? asked[row] : said;
            score = its > score ? its : score;
        }
    }
    const gyre_u32 chosen = gyre_pool_best_lane_(score, mask);
    if (!__any_sync(mask, score))
        return 0;
    said.first = gyre_shuffle_(mask, said.first, chosen);
    said.head = gyre_shuffle_(mask, said.head, chosen);
    return gyre_pool_take_(links, __shfl_sync(mask, best, (int)chosen), said, room, mask);
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
