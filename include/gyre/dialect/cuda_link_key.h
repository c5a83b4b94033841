/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links whose messages several blocks share by key: each block looks at every message of a ring, in its order, and takes those
 * whose keys it owns. Included by cuda_link_find.h.
 *
 * A block may be far behind: a message that it has not looked at was handled by its owner, and its place may hold another one by
 * now. The sender moves the ring's `tail` before it writes into a place again, and `tail` passes no message that was not fetched.
 * So whoever looks reads the key first and `tail` afterwards: while `tail` has not passed the message, the key is the
 * message's, and what `tail` has passed was fetched by others.
 *
 * Messages of a key are handled one after the other. Where the messages of a run are handled at the same time, each by a lane, no
 * two of a run have the same key.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_KEY_H
#define GYRE_DIALECT_CUDA_LINK_KEY_H

#include "gyre/dialect/cuda_link_view.h"
#include "gyre/key_hash.h"

#define GYRE_LINK_KEY_MAX   64 /* bytes of a key */
#define GYRE_LINK_KEY_LOOKS 32 /* rows of messages that a block passes before it looks at its orders */

/** What a warp knows of a ring by key while it looks at messages. */
struct gyre_link_key_look_ {
    gyre_u64 next;        /* the first message that was not looked at */
    gyre_u64 first;       /* that was taken */
    gyre_u64 taken_hash;  /* of the message that this lane's number has in the run */
    gyre_u32 taken, most; /* messages of the run, and how many it may have */
};

/* The first message that a block has to look at, which has looked at all before `next`. */
GYRE_HELPER gyre_u64 gyre_link_key_next_(const gyre_link_in_ &in, gyre_u64 next)
{
    const gyre_u64 tail = gyre_near_load_(&in.ring->tail);
    return next < tail ? tail : next;
}

/* The hash of a message's key, which its sender may overwrite meanwhile. Whole words are read: none is of another slot. */
GYRE_HELPER gyre_u64 gyre_link_key_hash_(const gyre_link_in_ &in, gyre_u64 index)
{
    const gyre_u32 size = gyre_near_half_load_(&in.ring->key_size);
    const gyre_u8 *const from = in.slots + (index & in.mask) * in.stride + GYRE_SLOT_HEADER_SIZE +
                                gyre_near_half_load_(&in.ring->key_offset);
    const gyre_u32 skew = (gyre_u32)(gyre_u64)from & 7;
    const gyre_u64 *const words = (const gyre_u64 *)(from - skew);
    const gyre_u64 seed[2] = {gyre_near_load_(&in.ring->key_seed[0]), gyre_near_load_(&in.ring->key_seed[1])};
    gyre_u64 key[GYRE_LINK_KEY_MAX / 8];
#pragma unroll 1
    for (gyre_u32 i = 0; i * 8 < size && i < GYRE_LINK_KEY_MAX / 8; i++) {
        key[i] = gyre_near_load_(words + i) >> 8 * skew;
        if (skew && i * 8 + 8 - skew < size)
            key[i] |= gyre_near_load_(words + i + 1) << 8 * (8 - skew);
    }
    return gyre_keyed_hash_bytes(seed, key, size);
}

/*
 * Looks at the `there` messages from look->next on. Returns a bit for each that the block owns, and the hash of this lane's
 * message. Called by the first warp.
 */
GYRE_HELPER gyre_u32 gyre_link_key_own_(const gyre_link_in_ &in, gyre_u64 next, gyre_u32 there,
                                        gyre_u64 *hash, gyre_u32 far, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_u32 own = 0;
    *hash = 0;
    if (lane < there) {
        *hash = gyre_link_key_hash_(in, next + lane);
        own = gyre_link_owner(*hash, gridDim.x) == blockIdx.x;
    }
    own = __ballot_sync(mask, own);
    gyre_link_fence_(
        far); /* the look at `tail` comes after the keys were read: pairs with the fence in gyre_link_room_ */
    const gyre_u64 tail = gyre_shuffle_(mask, gyre_near_load_(&in.ring->tail), 0);
    const gyre_u64 passed = tail > next ? tail - next : 0;
    return passed < 32 ? own & ~0u << passed : 0;
}

/*
 * Takes messages of `own`, one after the other, as long as they may be in one run. Returns how many of `there` messages were
 * looked at: those before the first one that has to wait for another run. Called by the first warp.
 */
GYRE_HELPER gyre_u32 gyre_link_key_pick_(gyre_link_view_ *links, gyre_link_key_look_ *look, gyre_u32 own,
                                         gyre_u64 hash, gyre_u32 there, gyre_u32 mask)
{
    const gyre_u32 lane = threadIdx.x & 31;
#pragma unroll 1
    for (; own; own &= own - 1) {
        const gyre_u32 from = (gyre_u32)__ffs((int)own) - 1;
        const gyre_u64 its = gyre_shuffle_(mask, hash, from);
        const gyre_u32 same = __any_sync(mask, lane < look->taken && look->taken_hash == its);
        if (look->taken == look->most || (same && links->apart))
            return from;
        if (look->taken == 0)
            look->first = look->next + from;
        if (lane == look->taken) {
            look->taken_hash = its;
            links->picked[lane] = (gyre_u32)(look->next + from - look->first);
        }
        look->taken++;
    }
    return there;
}

/* Takes up to `room` messages of a ring that are there and the block's own. Returns 0 if there are none. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_link_key_claim_(gyre_link_view_ *links, gyre_link_in_ in, gyre_u32 number,
                                            gyre_u32 room, gyre_u32 mask)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31, lanes = (gyre_u32)__popc(mask);
    gyre_link_key_look_ look = {in.next, 0, 0, 0, room < lanes ? room : lanes};
    __syncwarp(mask); /* all lanes have read the last run */
#pragma unroll 1
    for (gyre_u32 looks = 0; looks < GYRE_LINK_KEY_LOOKS; looks++) {
        gyre_u64 hash;
        look.next = gyre_shuffle_(mask, gyre_link_key_next_(in, look.next), 0);
        const gyre_u32 filled = __ballot_sync(mask, gyre_link_is_filled_(in, look.next + lane));
        const gyre_u32 there = filled == mask ? lanes : (gyre_u32)__ffs((int)~filled) - 1;
        if (!there) /* or a later message is there: the next look sees where `tail` is */
            break;
        const gyre_u32 own = gyre_link_key_own_(in, look.next, there, &hash, links->far, mask);
        const gyre_u32 seen = gyre_link_key_pick_(links, &look, own, hash, there, mask);
        look.next += seen;
        if (seen < lanes)
            break;
    }
    if (lane == 0 && look.next != in.next) {
        gyre_near_store_(&gyre_link_window_(links, number)->next, look.next);
        if (number < GYRE_LINK_INLETS)
            links->inlets[number].next = look.next;
    }
    if (lane == 0 && look.taken)
        links->run = {look.first, in.mask,   0,      in.slots, in.ring, GYRE_RUN_LINK,
                      look.taken, in.stride, number, 0,        0,       1};
    __syncwarp(mask);
    return look.taken;
}

/* Gives the places of a picked run back to the sender. Called by one thread. */
GYRE_HELPER void gyre_link_key_give_back_(const gyre_link_view_ *links, const gyre_link_run_ &run)
{
    const gyre_u32 shift = gyre_link_shift_((gyre_u32)run.mask);
    gyre_u64 *const fetched = gyre_link_counts_of_(links, run.ring, run.which);
#pragma unroll 1
    for (gyre_u32 i = 0; i < run.count; i++)
        gyre_near_add_(&fetched[(gyre_u32)(gyre_link_index_(links, run, i) & run.mask) >> shift], 1);
}

#endif
