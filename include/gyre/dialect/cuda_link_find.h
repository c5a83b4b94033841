/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the first warp of a block finds the next run: in links first, because what is under way is finished first, then in
 * queues. Included by cuda_links.h.
 *
 * A block takes messages only when each of its rings has room for all that their handlers may emit. A look that finds no
 * room takes nothing, and goes on looking for room and for another order, as an idle block does.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_FIND_H
#define GYRE_DIALECT_CUDA_LINK_FIND_H

#include "gyre/dialect/cuda_link_key.h"

/* ---- room ---- */

/*
 * Whether section `number` of a ring, counted from its tail, was fetched whole. The receivers raise a section's count behind
 * their loads, and this block stores behind the look at the count.
 */
GYRE_HELPER gyre_u32 gyre_link_is_whole_(const gyre_link_out_ *out, gyre_u32 number)
{
    const gyre_u32 shift = out->shift;
    const gyre_u64 at = out->tail + ((gyre_u64)number << shift);
    const gyre_u64 needed = (at / GYRE_LINK_SECTIONS >> shift << shift) + ((gyre_u64)1 << shift);
    return number < GYRE_LINK_SECTIONS &&
           gyre_near_load_(&out->fetched[((gyre_u32)at & out->mask) >> shift]) >= needed;
}

/* The tail of a ring behind the sections that were fetched whole, a bit for each of them in `whole`. */
GYRE_HELPER gyre_u64 gyre_link_tail_behind_(const gyre_link_out_ *out, gyre_u32 whole)
{
    return out->tail + ((gyre_u64)((gyre_u32)__ffs((int)~whole) - 1) << out->shift);
}

/* Returns the tail of a ring behind the sections that were fetched whole. Called by the first warp. */
GYRE_OUTLINE_ gyre_u64 gyre_link_tail_(const gyre_link_out_ *out, gyre_u32 mask)
{
    GYRE_IN_SHARED_(out);
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
    gyre_u32 whole = 0;
#pragma unroll 1
    for (gyre_u32 first = 0; first < GYRE_LINK_SECTIONS; first += lanes)
        whole |= __ballot_sync(mask, gyre_link_is_whole_(out, first + lane)) << first;
    return gyre_link_tail_behind_(out, whole);
}

/* How many messages have room in a ring with that tail, if each may emit as many as its port may. */
GYRE_HELPER gyre_u32 gyre_link_fits_(const gyre_link_out_ *out, gyre_u64 tail)
{
    const gyre_u32 left = out->mask + 1 - (gyre_u32)(out->head - tail);
    return out->type.most == 1 ? left : left / out->type.most;
}

/* As gyre_link_fits_, with the ring's tail as it is now if the message would not all fit. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_make_room_(gyre_link_out_ *out, gyre_u32 wanted, gyre_u32 mask)
{
    gyre_u32 fits = gyre_link_fits_(out, out->tail);
    if (fits < wanted) {
        const gyre_u64 tail = gyre_link_tail_(out, mask);
        fits = gyre_link_fits_(out, tail);
        __syncwarp(mask); /* all lanes have read the old one */
        if ((threadIdx.x & 31) == 0) {
            out->tail = tail;
            gyre_near_store_(&out->ring->tail, tail);
            if (out->share) /* before what is written into these places: gyre_link_key_own_ */
                gyre_link_fence_(out->far);
        }
        __syncwarp(mask);
    }
    return fits;
}

#include "gyre/dialect/cuda_link_topic.h"

/* Returns how many messages of `wanted` have room for all that their handlers may emit. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_room_(gyre_link_view_ *links, gyre_u32 wanted, gyre_u32 mask)
{
    gyre_u32 room = wanted;
#pragma unroll 1
    for (gyre_u32 i = 0; i < links->port_count; i++) {
        gyre_link_out_ *out = &links->outs[i];
        if (out->use != GYRE_PORT_LINKED && !out->placed)
            continue;
        const gyre_u32 fits = gyre_link_make_room_(out, wanted, mask);
        room = fits < room ? fits : room;
    }
    return links->branch_count ? gyre_link_topic_room_(links, room, mask) : room;
}

#include "gyre/dialect/cuda_link_limits.h"

/* ---- links ---- */

/*
 * Counts the messages of a ring that are there from `index` on, one after the other, in GYRE_LINK_ROWS rows of a message a
 * lane. Called by the first warp.
 */
GYRE_HELPER gyre_u32 gyre_link_count_(const gyre_link_in_ &in, gyre_u64 index, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
    gyre_u32 there[GYRE_LINK_ROWS], found = 0, full = 1;
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_LINK_ROWS; row++)
        there[row] = gyre_link_is_filled_(in, index + row * lanes + lane);
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_LINK_ROWS; row++) {
        const gyre_u32 filled = __ballot_sync(mask, there[row]);
        if (full)
            found += filled == mask ? lanes : (gyre_u32)__ffs((int)~filled) - 1;
        full = full && filled == mask;
    }
    return found;
}

/* Counts further messages, behind a first row that is there, as far as a block can use them. */
GYRE_OUTLINE_ gyre_u32 gyre_link_count_more_(gyre_link_in_ in, gyre_u32 wanted, gyre_u32 mask)
{
    const gyre_u32 lanes = (gyre_u32)__popc(mask);
    gyre_u32 found = lanes, more = GYRE_LINK_ROWS * lanes;
#pragma unroll 1
    while (more == GYRE_LINK_ROWS * lanes && found < wanted) {
        more = gyre_link_count_(in, in.next + found, mask);
        found += more;
    }
    return found;
}

/*
 * How many runs of `step` messages a ring seems to have, whose first `found` messages are there, up to one more than there are lanes: each
 * lane looks at the first message of one. To look at all messages would take longer than another block needs to claim some.
 */
GYRE_HELPER gyre_u32 gyre_link_guess_(const gyre_link_in_ &in, gyre_u32 found, gyre_u32 step, gyre_u32 mask)
{
    const gyre_u32 ahead = found + (threadIdx.x & 31) * step;
    const gyre_u32 there = ahead <= in.mask && gyre_link_is_filled_(in, in.next + ahead);
    const gyre_u32 filled = __ballot_sync(mask, there);
    return 1 + (filled == mask ? (gyre_u32)__popc(mask) : (gyre_u32)__ffs((int)~filled) - 1);
}

/* Returns how many of `found` messages a block takes: some are left to the other blocks. */
GYRE_HELPER gyre_u32 gyre_link_share_(gyre_u32 found, gyre_u32 blocks, gyre_u32 room)
{
    gyre_u32 share = found;
    if (blocks > 1 && found > 32) {
        share = (found + blocks - 1) / blocks;
        share = share > 32 ? share : 32;
    }
    return share < room ? share : room;
}

/*
 * Takes up to `count` messages of a ring or a queue that only this block takes from, without a look whether they are there:
 * the last run from there was long. What is there is known when they are fetched (gyre_link_hold_). Called by lane 0.
 */
GYRE_HELPER void gyre_link_hope_(gyre_link_view_ *links, const gyre_link_run_ &run)
{
    links->run = run;
    links->run.hoped = 1;
    links->found = run.count;
}

/* The block works off the backlog of `source` (cuda_link_drain.h). Called by lane 0. */
GYRE_HELPER void gyre_link_drains_(gyre_link_view_ *links, const gyre_link_source_ &source)
{
    links->source = source;
    links->run.from = GYRE_RUN_DRAIN;
    links->run.count = 0;
}

/* Takes the messages of a ring that are there, up to `room`. Returns 0 if there are none, or another block was quicker. */
GYRE_HELPER gyre_u32 gyre_link_claim_(gyre_link_view_ *links, const gyre_link_in_ &in, gyre_u32 number,
                                      gyre_u32 room, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
    if (number < GYRE_LINK_WIDE && links->inlets_wide >> number & 1) {
        if (lane == 0 && links->drains)
            gyre_link_drains_(
                links, {in.slots, in.next, in.mask, in.stride, 0, number, GYRE_LINK_TAKERS_(links) > 1});
        else if (lane == 0)
            gyre_link_hope_(links, {in.next, in.mask, 0, in.slots, in.ring, GYRE_RUN_LINK, room, in.stride,
                                    number, 0, 1});
        return 1;
    }
    const gyre_u32 filled = __ballot_sync(mask, gyre_link_is_filled_(in, in.next + lane));
    if (!(filled & 1))
        return 0;
    gyre_u32 found = filled == mask ? lanes : (gyre_u32)__ffs((int)~filled) - 1;
    if (found == lanes && room > lanes)
        found = gyre_link_count_more_(in, room, mask);
    gyre_u32 taken = found < room ? found : room;
    if (GYRE_LINK_TAKERS_(links) > 1 && found >= lanes) {
        const gyre_u32 runs = gyre_link_guess_(in, taken, taken, mask);
        taken = runs > lanes ? taken : gyre_link_share_(runs * taken, GYRE_LINK_TAKERS_(links), taken);
    }
    gyre_u32 ours = 1;
    if (GYRE_LINK_TAKERS_(links) > 1) {
        if (lane == 0)
            ours = atomicCAS(&in.ring->claimed, in.next, in.next + taken) == in.next;
        ours = __shfl_sync(mask, ours, 0);
    }
    if (lane == 0 && ours) {
        if (GYRE_LINK_TAKERS_(links) == 1)
            gyre_near_store_(&in.ring->claimed, in.next + taken);
        if (number < GYRE_LINK_INLETS)
            links->inlets[number].next = in.next + taken;
        links->run = {in.next, in.mask, 0, in.slots, in.ring, GYRE_RUN_LINK, taken, in.stride, number, 0, 0};
        if ((links->drains || (links->hopes && GYRE_LINK_TAKERS_(links) == 1)) &&
            in.stride <= GYRE_LINE_SIZE && number < GYRE_LINK_WIDE && taken >= GYRE_LINK_LONG)
            links->inlets_wide |= (gyre_u64)1 << number;
    }
    return ours;
}

#include "gyre/dialect/cuda_link_level.h"

/* Looks at all links, 32 at a time. Returns whether the block has a run. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_link_seek_all_(gyre_link_view_ *links, gyre_u32 room, gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask), count = links->inlet_count;
    gyre_u32 number = (blockIdx.x + links->turn + lane) % count; /* no ring is forgotten */
#pragma unroll 1
    for (gyre_u32 done = 0; done < count; done += lanes) {
        gyre_link_in_ in = {0, 0, 0, 0, 0, 0, 0};
        gyre_u32 there = 0;
        if (done + lane < count) {
            in = number < GYRE_LINK_INLETS ? links->inlets[number] : gyre_link_in_load_(links, number);
            if (in.share)
                in.next = gyre_link_key_next_(in, in.next);
            else if (GYRE_LINK_TAKERS_(links) > 1 && number < GYRE_LINK_INLETS)
                in.next = gyre_near_load_(&in.ring->claimed);
            there = gyre_link_is_filled_(in, in.next);
        }
        gyre_u32 left = __ballot_sync(mask, there);
#pragma unroll 1
        for (; left; left &= left - 1) {
            const gyre_u32 from = (gyre_u32)__ffs((int)left) - 1;
            const gyre_link_in_ picked = {(gyre_link_ring *)gyre_shuffle_(mask, (gyre_u64)in.ring, from),
                                          (const gyre_u8 *)gyre_shuffle_(mask, (gyre_u64)in.slots, from),
                                          gyre_shuffle_(mask, in.next, from),
                                          __shfl_sync(mask, in.mask, (int)from),
                                          __shfl_sync(mask, in.stride, (int)from),
                                          __shfl_sync(mask, in.share, (int)from),
                                          0};
            const gyre_u32 which = __shfl_sync(mask, number, (int)from);
            if (picked.share ? gyre_link_key_claim_(links, picked, which, room, mask)
                             : gyre_link_claim_(links, picked, which, room, mask))
                return 1;
        }
        number = (number + lanes) % count;
    }
    return 0;
}

/* Looks at each link once. Returns whether the block has a run. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_seek_(gyre_link_view_ *links, gyre_u32 room, gyre_u32 mask)
{
    if (links->inlet_count != 1)
        return links->inlet_count ? GYRE_LINK_SEEK_ALL_(links, room, mask) : 0;
    gyre_link_in_ in = links->inlets[0];
    if (in.share)
        return gyre_link_key_claim_(links, in, 0, room, mask);
    if (GYRE_LINK_TAKERS_(links) > 1)
        in.next = gyre_near_load_(&in.ring->claimed);
    return gyre_link_claim_(links, in, 0, room, mask);
}

#include "gyre/dialect/cuda_link_pool.h"

/* ---- queues ---- */

/* Counts the requests that are there from index `next` on. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_link_poll_(const gyre_served *queue, gyre_u64 next, gyre_u32 wide, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
    const gyre_u32 rows = wide ? GYRE_LINK_ROWS : 1, slots = wide ? lanes : GYRE_LINK_NARROW;
    gyre_u64 sequences[GYRE_LINK_ROWS];
    gyre_u32 found = 0, full = 1;
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_LINK_ROWS; row++) {
        sequences[row] = 0;
        if (row < rows && lane < slots)
            sequences[row] = gyre_word_load_(&gyre_request_at_(queue, next + row * lanes + lane)->sequence);
    }
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_LINK_ROWS; row++) {
        const gyre_u32 filled = __ballot_sync(mask, sequences[row] == next + row * lanes + lane + 1);
        if (full)
            found += filled == mask ? lanes : (gyre_u32)__ffs((int)~filled) - 1;
        full = full && filled == mask;
    }
    return found;
}

/* Takes `taken` requests of a queue, if no other block was quicker. Called by lane 0. */
GYRE_HELPER gyre_u32 gyre_link_take_(gyre_link_view_ *links, gyre_u32 which, gyre_u64 first, gyre_u32 taken)
{
    gyre_served *queue = &links->view->served[which];
    const gyre_u32 entry = links->entry_of[which];
    if (atomicCAS(&queue->claims->next, first, first + taken) != first)
        return 0;
    if (entry)
        gyre_lap_note_(&links->entries[entry - 1], first, taken, (gyre_u32)queue->mask);
    links->run = {first,
                  queue->mask,
                  *(volatile gyre_u64 *)&queue->dropping,
                  queue->requests,
                  0,
                  (gyre_u32)(entry ? GYRE_RUN_ENTRY : GYRE_RUN_QUEUE),
                  taken,
                  queue->request_stride,
                  which,
                  entry - 1,
                  0};
    return 1;
}

#if GYRE_LIMITED
#define GYRE_LINK_ADMIT_(links, which, first, taken) gyre_link_admit_((links), (which), (first), (taken))

/*
 * Takes requests of a queue as gyre_link_take_ does, as many as may be under way. What is to be dropped is taken by itself, and is
 * counted nowhere. Called by lane 0.
 */
GYRE_HELPER gyre_u32 gyre_link_admit_(gyre_link_view_ *links, gyre_u32 which, gyre_u64 first, gyre_u32 taken)
{
    const gyre_u32 entry = links->entry_of[which];
    const gyre_u64 dropping = *(volatile gyre_u64 *)&links->view->served[which].dropping;
    if (!entry || !links->entries[entry - 1].admission)
        return gyre_link_take_(links, which, first, taken);
    if (first < dropping)
        return gyre_link_take_(links, which, first,
                               dropping - first < taken ? (gyre_u32)(dropping - first) : taken);
    const gyre_link_entry_ *its = &links->entries[entry - 1];
    const gyre_u32 admitted = gyre_admission_take_(its, taken);
    if (!admitted)
        return 0;
    if (gyre_link_take_(links, which, first, admitted))
        return 1;
    gyre_admission_give_(links, its, admitted);
    return 0;
}
#else
#define GYRE_LINK_ADMIT_(links, which, first, taken) gyre_link_take_((links), (which), (first), (taken))
#endif

/* Whether the block may work off a backlog of a queue by windows. */
GYRE_HELPER gyre_u32 gyre_link_may_drain_(const gyre_link_view_ *links, gyre_u32 which)
{
    const gyre_served *queue = &links->view->served[which];
    return links->drains && links->entry_of[which] && links->view->team_size == 1 &&
           queue->own.next >= queue->dropping;
}

/*
 * Looks at one queue. Of blocks that share it one looks across the bus, and the others learn what it found. `there`: the next
 * request was seen already. Returns whether the block has a run. Called by the first warp.
 */
GYRE_OUTLINE_ gyre_u32 gyre_link_look_(gyre_link_view_ *links, gyre_u32 which, gyre_u32 room, gyre_u32 there,
                                       gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31, team = links->view->team_size;
    gyre_served *queue = &links->view->served[which];
    gyre_cuda_claims *claims = queue->claims;
    const gyre_u32 wide = (gyre_u32)(links->wide >> which) & 1;
    gyre_u64 next = 0;
    gyre_u32 known = 0, polls = 0, ours = 0;
    if (wide && gyre_link_may_drain_(links, which)) {
        if (lane == 0)
            gyre_link_drains_(links, {queue->requests, queue->own.next, (gyre_u32)queue->mask,
                                      queue->request_stride, links->entry_of[which], which, 0});
        return 1;
    }
    if ((wide || there) && links->hopes && team == 1) {
        const gyre_u32 entry = links->entry_of[which], hope = wide ? room : GYRE_LINK_LONG;
        const gyre_u32 waits = wide && (gyre_u64)clock64() < links->waits;
        if (__shfl_sync(mask, waits, 0))
            return 0;
        if (lane == 0)
            gyre_link_hope_(links, {gyre_near_load_(&claims->next), queue->mask,
                                    *(volatile gyre_u64 *)&queue->dropping, queue->requests, 0,
                                    (gyre_u32)(entry ? GYRE_RUN_ENTRY : GYRE_RUN_QUEUE),
                                    hope < room ? hope : room, queue->request_stride, which, entry - 1, 1});
        return 1;
    }
    if (lane == 0) {
        next = gyre_near_load_(&claims->next);
        const gyre_u64 ready = team > 1 ? gyre_near_load_(&claims->ready) : next;
        known = ready > next ? (gyre_u32)(ready - next < 0xffffu ? ready - next : 0xffffu) : 0;
        polls = !known && (team == 1 || atomicCAS(&claims->pollers[0], 0u, 1u) == 0);
    }
    next = __shfl_sync(mask, next, 0);
    if (__shfl_sync(mask, polls, 0)) {
        known = gyre_link_poll_(queue, next, wide, mask);
        __syncwarp(mask);
        if (lane == 0) {
            const gyre_u64 bit = (gyre_u64)1 << which;
            links->wide = known >= GYRE_LINK_NARROW ? links->wide | bit : links->wide & ~bit;
            if (team > 1) {
                if (known)
                    atomicMax(&claims->ready, next + known);
                atomicExch(&claims->pollers[0], 0u);
            }
        }
    }
    if (lane == 0 && known)
        ours = GYRE_LINK_ADMIT_(links, which, next, gyre_link_share_(known, team, room));
    return __shfl_sync(mask, ours, 0);
}

/*
 * Returns a bit for each queue that is worth a look: its next request is there, or requests are hoped for. The first requests of
 * all queues are asked for together, because each look crosses the bus. Called by the first warp.
 */
GYRE_HELPER gyre_u64 gyre_link_worth_(gyre_link_view_ *links, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask), count = links->view->queue_count;
    const gyre_u32 looks = links->looks;
    gyre_u64 worth = links->wide;
    __syncwarp(mask);
    if (lane == 0)
        links->looks = looks + 1;
    if (worth && looks % GYRE_LINK_BESIDE)
        return worth;
#pragma unroll 1
    for (gyre_u32 first = 0; first < count; first += lanes) {
        gyre_u32 there = 0;
        if (first + lane < count) {
            const gyre_served *queue = &links->view->served[first + lane];
            const gyre_u64 next = gyre_near_load_(&queue->claims->next);
            there = gyre_word_load_(&gyre_request_at_(queue, next)->sequence) == next + 1;
        }
        worth |= (gyre_u64)__ballot_sync(mask, there) << first;
    }
    /* These come first: a queue that always has requests would hold them off. */
    const gyre_u64 beside = worth & ~links->wide;
    return beside ? beside : worth;
}

/* Looks at the queues. Those that enter no pipeline come seldom (`aside`), while there are links to look at. */
GYRE_HELPER gyre_u32 gyre_link_seek_queues_(gyre_link_view_ *links, gyre_u32 room, gyre_u32 wanted,
                                            gyre_u32 aside, gyre_u32 mask)
{
    const gyre_u32 count = links->view->queue_count;
    if (links->table && !links->enters && !aside)
        return 0;
    const gyre_u32 seen = count > 1 && links->view->team_size == 1;
    const gyre_u64 worth = seen ? gyre_link_worth_(links, mask) : ~(gyre_u64)0;
    gyre_u32 which = count == 1 ? 0 : links->turn % count;
#pragma unroll 1
    for (gyre_u32 i = 0; i < count; i++) {
        const gyre_u32 enters = links->entry_of[which];
        if (worth >> which & 1 &&
            (enters ? room > 0 && GYRE_LINK_IS_OPEN_(links, which, mask) : !links->table || aside) &&
            gyre_link_look_(links, which, enters ? room : wanted, seen, mask))
            return 1;
        which = which + 1 < count ? which + 1 : 0;
    }
    return 0;
}

/* ---- the search ---- */

/* Tells the host what was counted since it was told. Called by lane 0. */
GYRE_HELPER void gyre_link_tell_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    if (view->told == view->handled)
        return;
    view->told = view->handled;
    gyre_count_served_(arguments, view);
}

/*
 * Looks for another order and for requests to drop, by reads that are under way together, and tells the host what was counted.
 * Returns whether there is another order. Called by the first warp, now and then.
 */
GYRE_OUTLINE_ gyre_u32 gyre_link_ask_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                      gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
    const gyre_u64 now = (gyre_u64)clock64();
    gyre_block_view *view = links->view;
    gyre_u32 leaves = 0;
    if (lane == 0)
        gyre_link_tell_(arguments, view);
#pragma unroll 1
    for (gyre_u32 i = lane; i < view->queue_count; i += lanes) {
        gyre_served *queue = &view->served[i];
        if (now - queue->looked < GYRE_CUDA_LOOK_CLOCKS * (1 + gridDim.x / 8))
            continue;
        queue->looked = now;
        queue->dropping = gyre_word_load_(queue->drop_before);
    }
    if (lane == 0) {
        leaves = (gyre_u32)gyre_order_changed_(view);
        view->asked = now;
    }
    return __shfl_sync(mask, leaves, 0);
}

/* Finds the next run, of `most` messages at most, or another order (links->run.from). Called by the first warp. */
GYRE_OUTLINE_ void gyre_link_find_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                   gyre_u32 most)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 mask = gyre_warp_lanes_(), lane = threadIdx.x & 31;
    gyre_block_view *view = links->view;
    const gyre_u64 began = (gyre_u64)clock64();
    const gyre_u32 due = began - view->asked >= GYRE_LINK_LOOK_CLOCKS_;
    const gyre_u32 glances = due && view->asked && !view->queue_count;
    gyre_u64 order = view->order;
    gyre_u32 found = 0, looks = 0;
    __syncwarp(mask); /* all lanes have read the last run */
    if (lane == 0) {
        links->run.from = GYRE_RUN_NONE;
        if (glances) { /* nobody waits for the word before something is found */
            gyre_link_tell_(arguments, view);
            order = gyre_word_load_(view->order_word);
        }
    }
#pragma unroll 1
    while (!found) {
        const gyre_u32 asks = looks % GYRE_LINK_ASKS == 0 && (looks || (due && !glances));
        if (__shfl_sync(mask, asks, 0) && gyre_link_ask_(arguments, links, mask))
            break;
        const gyre_u32 room = gyre_link_room_(links, most, mask), aside = links->aside;
        looks++;
        if (GYRE_LINK_KEEPS_(
                links)) /* it takes no other message of the pipeline, which would need the same room */
            found = room && gyre_link_take_kept_(links);
        else
            found = !aside && room && GYRE_LINK_SEEK_(links, room, mask);
        if (!found)
            found = gyre_link_seek_queues_(links, GYRE_LINK_KEEPS_(links) ? 0 : room, most,
                                           aside || looks % GYRE_LINK_ASIDE == 0, mask);
        if (lane == 0)
            links->aside = 0;
        __syncwarp(mask);
        if (!found && lane == 0)
            gyre_rest_(arguments.pause_ns);
    }
    if (lane == 0 &&
        glances) /* if there is another order, the next search asks before it looks for messages */
        view->asked = order == view->order ? began : 0;
    if (lane == 0 && found) {
        links->turn++;
        gyre_turn_begins_(gyre_turn_(arguments, 0));
    }
    __syncwarp(mask);
}

/* Of the queues of `there`, the first one from the queue on whose turn it is: none with a request is forgotten. `count` is 32 at most. */
GYRE_HELPER gyre_u32 gyre_link_queue_in_turn_(const gyre_link_view_ *links, gyre_u32 there, gyre_u32 count)
{
    const gyre_u32 from = links->turn % count, behind = there >> from << from;
    return (gyre_u32)__ffs((int)(behind ? behind : there)) - 1;
}

/*
 * Looks once at all that the host may have changed, by reads that are under way together: the order, the words of what was
 * dropped, and queues that enter no pipeline. Finds a run of such a queue (GYRE_RUN_QUEUE), another order (GYRE_RUN_NONE), or
 * nothing (GYRE_RUN_LATER). Called by the first warp while the short way has nothing to do.
 */
GYRE_OUTLINE_ void gyre_link_glance_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                     gyre_u32 most)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 mask = gyre_warp_lanes_(), lane = threadIdx.x & 31;
    gyre_block_view *view = links->view;
    gyre_u32 ours = 0, leaves = 0, there = 0;
    __syncwarp(mask);
    if (lane == 0)
        gyre_link_tell_(arguments, view);
    if (lane < view->queue_count) {
        gyre_served *queue = &view->served[lane];
        const gyre_u64 next = gyre_near_load_(&queue->claims->next);
        const gyre_u64 order = lane == 0 ? gyre_word_load_(view->order_word) : view->order;
        const gyre_u64 dropping = gyre_word_load_(queue->drop_before);
        const gyre_u64 sequence =
            links->entry_of[lane] ? 0 : gyre_word_load_(&gyre_request_at_(queue, next)->sequence);
        leaves = order != view->order;
        queue->dropping = dropping;
        there = sequence == next + 1;
    }
    leaves = __ballot_sync(mask, leaves);
    there = __ballot_sync(mask, there);
    if (!leaves && there)
        ours =
            gyre_link_look_(links, gyre_link_queue_in_turn_(links, there, view->queue_count), most, 1, mask);
    if (lane == 0 && !ours)
        links->run.from = leaves ? GYRE_RUN_NONE : GYRE_RUN_LATER;
    if (lane == 0 && ours) {
        links->turn++;
        gyre_turn_begins_(gyre_turn_(arguments, 0));
    }
    __syncwarp(mask);
}

/* Chooses how many messages the next run in turn has: as many as take a few tens of microseconds. Called by one thread. */
GYRE_HELPER void gyre_link_adapt_(gyre_link_view_ *links, gyre_u64 clocks)
{
    if (clocks > 2 * GYRE_LINK_TURN_LEAST)
        links->in_turn = links->in_turn > 1 ? links->in_turn / 2 : 1;
    else if (clocks < GYRE_LINK_TURN_LEAST && links->run.count == links->in_turn)
        links->in_turn = links->in_turn < GYRE_LINK_IN_TURN ? links->in_turn * 2 : GYRE_LINK_IN_TURN;
}

#endif
