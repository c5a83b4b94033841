/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors of several blocks on CUDA, whose messages are lines: some blocks route, the others own keys. A router reads its queues
 * and stores each message into the ring, in device memory, of its owner: a ring for each pair of router and owner, which lies in the
 * owner's stage. An owner takes what its rings hold, handles it (cuda_keyed.h), and stores each reply into the queue's slot itself. So
 * all of them work at once: nobody waits for the end of a run of others, and a queue is read by one block. Included by cuda_keyed.h.
 *
 * A queue has one router, a key has one owner, and rings keep their order: so messages of one queue and one key are handled in the
 * order of the queue. A line carries its position (the tag): what is not there yet does not have it. The owner says how many it has
 * handled, and how many it takes at once, so that at most GYRE_KEYED_ROUTED_CLOCKS of work wait for a block when an order comes. A
 * router takes from its queue only what all owners have room for.
 *
 * At an order each router closes its rings. Owners handle all that lies before, then obey. So between two orders no message is in a
 * ring, and rings need not outlive a launch.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_ROUTES_H
#define GYRE_DIALECT_CUDA_KEYED_ROUTES_H

#define GYRE_KEYED_ROUTED_CLOCKS                                                                             \
    200000                      /* clocks that the messages in an owner's rings should take at most: 100 us */
#define GYRE_KEYED_LOADS_     4 /* quarters of lines that a thread loads at once */
#define GYRE_KEYED_NARROW_    8 /* messages that a look at an idle queue, or ring, reads */
#define GYRE_KEYED_WORDS_SIZE 4096 /* bytes at the end of an owner's stage, for its words about its rings */
#define GYRE_KEYED_RING_MOST_ 4096

/* the kinds of a line, beside a message */
#define GYRE_KEYED_CLOSED_  1u
#define GYRE_KEYED_DROPPED_ 2u /* a message that was dropped */

#include "gyre/dialect/cuda_keyed_sources.h"

/** What the threads of a router share. It lies where owners have gyre_keyed_run_.bits. */
struct gyre_keyed_router_ {
    gyre_u64 sent[GYRE_KEYED_OWNERS_MOST];   /* messages to each owner */
    gyre_u32 credit[GYRE_KEYED_OWNERS_MOST]; /* how many more the owner takes */
    gyre_u32 taken[GYRE_KEYED_OWNERS_MOST];  /* of this look */
    gyre_u32 counts[GYRE_KEYED_ROWS_]
                   [GYRE_KEYED_OWNERS_MOST]; /* of the look's messages, a row for each warp */
    gyre_u32 to[GYRE_KEYED_THREADS];         /* each message's owner, */
    gyre_u32 place[GYRE_KEYED_THREADS];      /* and position in its ring */
    gyre_u32 width[GYRE_KEYED_SOURCES_];     /* messages of each source that a look reads */
    gyre_u32 end;                            /* the first message of the look that stays in the queue */
};
static_assert(sizeof(gyre_keyed_router_) <= sizeof(((gyre_keyed_run_ *)0)->bits), "it lies there");

/** What the threads of an owner share about its rings. */
struct gyre_keyed_owner_ {
    gyre_u64 next[GYRE_KEYED_ROUTERS_MOST]; /* the position of the first message that was not handled */
    gyre_u32 end[GYRE_KEYED_ROUTERS_MOST];  /* the first message of the look that is not there */
    gyre_u32 closed;                        /* a bit for each ring that is closed and empty */
    gyre_u32 width;                         /* messages of each ring that a look reads */
    gyre_u64 began;                         /* the clock when the look had read them */
};

/* ---- the rings ---- */

/* Messages that each ring has room for; a power of two. */
GYRE_HELPER gyre_u32 gyre_keyed_ring_size_(gyre_u32 routers)
{
    const gyre_u32 fits = (GYRE_CUDA_STAGE_SIZE - GYRE_KEYED_WORDS_SIZE) / GYRE_LINE_SIZE / routers;
    const gyre_u32 size = 1u << (31 - (gyre_u32)__clz((int)fits));
    return size < GYRE_KEYED_RING_MOST_ ? size : GYRE_KEYED_RING_MOST_;
}

GYRE_HELPER gyre_u8 *gyre_keyed_stage_of_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                          gyre_u32 owner)
{
    return arguments.stage + (gyre_u64)(view->routers + owner) * GYRE_CUDA_STAGE_SIZE;
}

/* The owner's word for a router: messages of its ring that were handled, and in the upper 16 bits how many may be in it. */
GYRE_HELPER gyre_u64 *gyre_keyed_word_(gyre_u8 *stage, gyre_u32 router)
{
    return (gyre_u64 *)(stage + GYRE_CUDA_STAGE_SIZE - GYRE_KEYED_WORDS_SIZE + router * 128);
}

/* A line's first quarter: the message's index, and with the tag its length (too long ones are all as long), its queue and its kind. */
GYRE_HELPER gyre_chunk gyre_keyed_head_(gyre_u64 index, gyre_u32 at, gyre_u32 length, gyre_u32 which,
                                        gyre_u32 kind)
{
    const gyre_u32 cut = length < 0xffffu ? length : 0xffffu;
    gyre_chunk head = {index, (gyre_u64)(kind << 24 | which << 16 | cut) << 32 | (gyre_u32)(at + 1)};
    return head;
}

/* The word in which a block says for which order it takes routed messages. */
GYRE_HELPER gyre_u64 *gyre_keyed_ready_(const gyre_cuda_arguments &arguments, gyre_u32 block)
{
    return &arguments.arrived[2 * gridDim.x + block];
}

/* Loads a quarter of a line. */
GYRE_HELPER void gyre_keyed_load_(const gyre_u8 *from, gyre_u64 *x, gyre_u64 *y)
{
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0,%1},[%2];" : "=l"(*x), "=l"(*y) : "l"(from) : "memory");
}

GYRE_HELPER void gyre_keyed_keep_(gyre_chunk *to, gyre_u64 x, gyre_u64 y)
{
    to->x = x;
    to->y = y;
}

/* ---- routers ---- */

/* Begins to route, when all owners have empty rings. Called by all threads. */
GYRE_HELPER void gyre_keyed_route_begin_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                         gyre_keyed_router_ *router)
{
    const gyre_u32 thread = threadIdx.x;
    if (thread < view->owners) {
        router->sent[thread] = 0;
        while (gyre_device_load_(gyre_keyed_ready_(arguments, view->routers + thread)) != view->order)
            ;
    }
    if (thread < GYRE_KEYED_SOURCES_)
        router->width[thread] = GYRE_KEYED_NARROW_;
    __syncthreads();
}

/*
  * Reads the next messages of a source into the cells, as many as are there one after the other, and what the owners say. Called by
 * all threads; router->end is the number of messages.
 */
template <class K>
GYRE_HELPER void gyre_keyed_look_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                  gyre_keyed_router_ *router, gyre_chunk *cells,
                                  const gyre_keyed_source_ &source)
{
    const gyre_u32 thread = threadIdx.x, width = router->width[source.number];
    const gyre_u64 next = source.next;
    gyre_u64 x[GYRE_KEYED_LOADS_], y[GYRE_KEYED_LOADS_]; /* no structs, which the compiler puts into memory */
    gyre_u64 word = 0;
#pragma unroll
    for (gyre_u32 j = 0; j < GYRE_KEYED_LOADS_; j++) {
        const gyre_u32 chunk = thread + j * GYRE_KEYED_THREADS;
        x[j] = y[j] = 0;
        if (chunk < 4 * width && gyre_keyed_source_has_(source, chunk % 4))
            gyre_keyed_load_(gyre_keyed_source_at_(source, chunk / 4) + 16 * (chunk % 4), &x[j], &y[j]);
    }
    if (thread < view->owners)
        word = gyre_near_load_(gyre_keyed_word_(gyre_keyed_stage_of_(arguments, view, thread), blockIdx.x));
    if (thread == 0)
        router->end = width;
    for (gyre_u32 i = thread; i < GYRE_KEYED_ROWS_ * GYRE_KEYED_OWNERS_MOST; i += GYRE_KEYED_THREADS)
        router->counts[i / GYRE_KEYED_OWNERS_MOST][i % GYRE_KEYED_OWNERS_MOST] = 0;
    if (thread < view->owners) {
        const gyre_u32 limit = (gyre_u32)(word >> 48);
        const gyre_u32 under_way = (gyre_u32)router->sent[thread] - (gyre_u32)word;
        router->credit[thread] = under_way < limit ? limit - under_way : 0;
        router->taken[thread] = 0;
    }
    __syncthreads();
#pragma unroll
    for (gyre_u32 j = 0; j < GYRE_KEYED_LOADS_; j++) {
        const gyre_u32 chunk = thread + j * GYRE_KEYED_THREADS, slot = chunk / 4, part = chunk % 4;
        if (chunk >= 4 * width)
            continue;
        if (part < gyre_stage_<K>::request_chunks)
            gyre_keyed_keep_(&cells[slot * gyre_stage_<K>::cell + part], x[j], y[j]);
        if (part == 0 && !gyre_keyed_source_is_there_(source, x[j], y[j], next + slot + 1))
            atomicMin(&router->end, slot);
    }
    __syncthreads();
}

/* The owner of a message. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_owner_of_(const gyre_keyed_table *table, const gyre_chunk *cell,
                                          gyre_u32 owners)
{
    gyre_u64 key[K::gyre_its_key_words_];
    gyre_keyed_key_<K>(gyre_payload_((const gyre_slot *)cell), key);
    return gyre_keyed_owner(table, gyre_keyed_hash_of_<K>(table, key), owners);
}

/*
 * Gives each message of the look its place in its owner's ring, in the order of the queue. Lowers router->end to the first message
 * that its owner does not take yet. Called by all threads.
 */
template <class K>
GYRE_HELPER void gyre_keyed_rank_(const gyre_block_view *view, gyre_keyed_router_ *router,
                                  const gyre_chunk *cells, const gyre_keyed_table *table)
{
    const gyre_u32 slot = threadIdx.x, row = slot / 32, lane = slot % 32, all = router->end;
    const gyre_u32 to =
        slot < all ? gyre_keyed_owner_of_<K>(table, cells + slot * gyre_stage_<K>::cell, view->owners)
                   : GYRE_KEYED_NOWHERE;
    const gyre_u32 alike = __match_any_sync(0xffffffffu, to);
    const gyre_u32 before = (gyre_u32)__popc(alike & ((1u << lane) - 1));
    if (slot < all && before == 0)
        router->counts[row][to] = (gyre_u32)__popc(alike);
    __syncthreads();
    if (slot < view->owners) {
        gyre_u32 sum = 0;
#pragma unroll
        for (gyre_u32 i = 0; i < GYRE_KEYED_ROWS_; i++) {
            const gyre_u32 count = router->counts[i][slot];
            router->counts[i][slot] = sum;
            sum += count;
        }
    }
    __syncthreads();
    const gyre_u32 rank = slot < all ? router->counts[row][to] + before : 0;
    if (slot < all && rank >= router->credit[to])
        atomicMin(&router->end, slot);
    __syncthreads();
    if (slot >= router->end)
        return;
    router->to[slot] = to;
    router->place[slot] = (gyre_u32)router->sent[to] + rank;
    atomicMax(&router->taken[to], rank + 1);
}

/* Stores the messages of the look into the rings of their owners. Called by all threads, which have met. */
template <class K>
GYRE_HELPER void gyre_keyed_pass_on_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                     const gyre_keyed_router_ *router, const gyre_chunk *cells,
                                     const gyre_keyed_source_ &source)
{
    const gyre_u32 all = router->end, size = gyre_keyed_ring_size_(view->routers);
    const gyre_u64 next = source.next, dropping = gyre_keyed_source_drops_(view, source);
#pragma unroll 1
    for (gyre_u32 chunk = threadIdx.x; chunk < 4 * all; chunk += GYRE_KEYED_THREADS) {
        const gyre_u32 slot = chunk / 4, part = chunk % 4, at = router->place[slot];
        const gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
        const gyre_u32 kind = next + slot < dropping ? GYRE_KEYED_DROPPED_ : gyre_keyed_source_kind_(source);
        const gyre_chunk head =
            gyre_keyed_head_(gyre_keyed_source_word_(source, cell, next + slot), at,
                             ((const gyre_slot *)cell)->length, gyre_keyed_source_which_(source), kind);
        const gyre_chunk rest = cell[part < gyre_stage_<K>::request_chunks ? part : 0];
        gyre_u8 *ring = gyre_keyed_stage_of_(arguments, view, router->to[slot]) +
                        (gyre_u64)blockIdx.x * size * GYRE_LINE_SIZE;
        gyre_chunk mine;
        mine.x = part ? rest.x : head.x;
        mine.y = part ? rest.y : head.y;
        gyre_chunk_store_(ring + (at & (size - 1)) * GYRE_LINE_SIZE + 16 * part,
                          mine); /* four neighbours, a line */
    }
    __syncthreads();
}

/* Ends a look. `all`: the messages that were passed on. */
GYRE_HELPER void gyre_keyed_looked_(gyre_block_view *view, gyre_keyed_links_ *links,
                                    gyre_keyed_router_ *router, const gyre_keyed_source_ &source,
                                    gyre_u32 all, gyre_u32 most)
{
    gyre_u32 *const width = &router->width[source.number];
    if (threadIdx.x < view->owners)
        router->sent[threadIdx.x] += router->taken[threadIdx.x];
    if (threadIdx.x == 0) {
        gyre_keyed_source_took_(view, links, source, all);
        if (all == *width)
            *width = 4 * *width < most ? 4 * *width : most;
        else if (all < *width / 4)
            *width = 2 * all > GYRE_KEYED_NARROW_ ? 2 * all : GYRE_KEYED_NARROW_;
    }
}

/* Tells the owners that nothing follows. */
GYRE_HELPER void gyre_keyed_close_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                   const gyre_keyed_router_ *router)
{
    const gyre_u32 size = gyre_keyed_ring_size_(view->routers), owner = threadIdx.x;
    __syncthreads();
    if (owner >= view->owners)
        return;
    const gyre_u32 at = (gyre_u32)router->sent[owner];
    gyre_u8 *ring =
        gyre_keyed_stage_of_(arguments, view, owner) + (gyre_u64)blockIdx.x * size * GYRE_LINE_SIZE;
    gyre_chunk_store_(ring + (at & (size - 1)) * GYRE_LINE_SIZE,
                      gyre_keyed_head_(0, at, 0, 0, GYRE_KEYED_CLOSED_));
}

/* Routes the messages of this block's sources, until another order. Called by all threads of a router. */
template <class K>
GYRE_HELPER void gyre_keyed_route_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                   gyre_keyed_links_ *links, gyre_keyed_run_ *run, gyre_chunk *cells,
                                   gyre_u32 most)
{
    gyre_keyed_router_ *router = (gyre_keyed_router_ *)run->bits;
    const gyre_u32 sources = gyre_keyed_source_count_(view, links);
    gyre_u32 which = blockIdx.x;
    __syncthreads();
    gyre_keyed_route_begin_(arguments, view, router);
    while (!*(volatile gyre_u32 *)&view->go) {
        const gyre_keyed_source_ source = gyre_keyed_source_of_(view, links, which);
        gyre_keyed_look_<K>(arguments, view, router, cells, source);
        if (router->end)
            gyre_keyed_rank_<K>(view, router, cells, (const gyre_keyed_table *)arguments.state);
        __syncthreads();
        const gyre_u32 all = router->end;
        if (all)
            gyre_keyed_pass_on_<K>(arguments, view, router, cells, source);
        gyre_keyed_looked_(view, links, router, source, all, most);
        if (threadIdx.x == 0) {
            gyre_keyed_source_asks_(view, source);
            if (!all)
                gyre_rest_(arguments.pause_ns);
        }
        which = which + view->routers < sources ? which + view->routers : blockIdx.x;
        __syncthreads();
    }
    gyre_keyed_close_(arguments, view, router);
    __syncthreads();
    gyre_keyed_clear_(run);
}

/* ---- owners ---- */

/* Empties this block's rings, and says so. Called by all threads of an owner. */
GYRE_HELPER void gyre_keyed_own_begin_(const gyre_cuda_arguments &arguments, const gyre_block_view *view,
                                       gyre_keyed_owner_ *owner, gyre_u8 *stage)
{
    const gyre_u32 thread = threadIdx.x, lines = view->routers * gyre_keyed_ring_size_(view->routers);
    const gyre_chunk nothing = {0, 0};
#pragma unroll 1
    for (gyre_u32 line = thread; line < lines; line += GYRE_KEYED_THREADS)
        gyre_chunk_store_(stage + line * GYRE_LINE_SIZE, nothing);
    if (thread < view->routers) {
        owner->next[thread] = 0;
        *(volatile gyre_u64 *)gyre_keyed_word_(stage, thread) = (gyre_u64)GYRE_KEYED_LEAST << 48;
    }
    if (thread == 0)
        owner->width = GYRE_KEYED_NARROW_;
    __threadfence();
    __syncthreads();
    if (thread == 0)
        gyre_keyed_store_(gyre_keyed_ready_(arguments, blockIdx.x), view->order);
}

/* Notes whether message i of a ring is there. Called by one thread. */
GYRE_HELPER void gyre_keyed_arrived_(gyre_keyed_owner_ *owner, gyre_u32 ring, gyre_u32 i, gyre_u32 tag,
                                     gyre_u32 kind)
{
    const gyre_u32 there = tag == (gyre_u32)owner->next[ring] + i + 1;
    if (!there || kind == GYRE_KEYED_CLOSED_)
        atomicMin(&owner->end[ring], i);
    if (there && kind == GYRE_KEYED_CLOSED_ && i == 0)
        atomicOr(&owner->closed, 1u << ring);
}

/*
 * Reads the next messages of each ring into the cells, with their headers as gyre_slot has them and the queue's number in `info`.
 * Message i of ring r goes to cell r * width + i. Returns how many there are. Called by all threads.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_gather_(const gyre_block_view *view, gyre_keyed_owner_ *owner, gyre_u8 *stage,
                                        gyre_chunk *cells)
{
    const gyre_u32 thread = threadIdx.x, width = owner->width, size = gyre_keyed_ring_size_(view->routers);
    const gyre_u32 all = 4 * width * view->routers, log2 = 31 - (gyre_u32)__clz((int)width);
    gyre_u64 x[GYRE_KEYED_LOADS_], y[GYRE_KEYED_LOADS_];
#pragma unroll
    for (gyre_u32 j = 0; j < GYRE_KEYED_LOADS_; j++) {
        const gyre_u32 chunk = thread + j * GYRE_KEYED_THREADS, ring = chunk / 4 >> log2;
        const gyre_u32 i = chunk / 4 & (width - 1);
        x[j] = y[j] = 0;
        if (chunk < all)
            gyre_keyed_load_(
                stage + (ring * size + (((gyre_u32)owner->next[ring] + i) & (size - 1))) * GYRE_LINE_SIZE +
                    16 * (chunk % 4),
                &x[j], &y[j]);
    }
    if (thread < view->routers)
        owner->end[thread] = width;
    if (thread == 0)
        owner->closed = 0;
    __syncthreads();
#pragma unroll
    for (gyre_u32 j = 0; j < GYRE_KEYED_LOADS_; j++) {
        const gyre_u32 chunk = thread + j * GYRE_KEYED_THREADS, ring = chunk / 4 >> log2;
        const gyre_u32 i = chunk / 4 & (width - 1), part = chunk % 4, what = (gyre_u32)(y[j] >> 32);
        if (chunk >= all)
            continue;
        if (part == 0) {
            gyre_keyed_arrived_(owner, ring, i, (gyre_u32)y[j], what >> 24);
            x[j] += gyre_keyed_is_index_(what >> 24); /* which becomes a sequence */
            y[j] = (gyre_u64)(what >> 16) << 32 | (what & 0xffffu);
        }
        if (part < gyre_stage_<K>::request_chunks)
            gyre_keyed_keep_(&cells[chunk / 4 * gyre_stage_<K>::cell + part], x[j], y[j]);
    }
    __syncthreads();
    gyre_u32 count = 0;
#pragma unroll 1
    for (gyre_u32 ring = 0; ring < view->routers; ring++)
        count += owner->end[ring];
    return count;
}

/* Notes the message of a cell, and returns its part; or settles it if its handler does not get it. Called by one thread. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_receive_(gyre_keyed_run_ *run, gyre_keyed_links_ *links, gyre_chunk *cells,
                                         gyre_u32 slot, const gyre_keyed_table *table, gyre_context *gyre)
{
    gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
    gyre_slot *in = (gyre_slot *)cell, *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_chunk zero = {0, 0};
    const gyre_u64 dropped = in->info >> 8 == GYRE_KEYED_DROPPED_ ? GYRE_KEYED_ROUTED_ : 0;
    gyre_u64 key[K::gyre_its_key_words_];
#if !GYRE_STAGE
    in->info &= 0xffu;
#endif
#pragma unroll
    for (gyre_u32 i = 0; i < 4; i++) /* the whole line goes out, maybe to another program */
        ((gyre_chunk *)out)[i] = zero;
    out->sequence = in->sequence;
    if (gyre_settle_<K>(in, out, 0, dropped, 1)) {
#if GYRE_STAGE
        gyre_keyed_linked_settle_alone_<K>(links, cells, GYRE_KEYED_ROUTED_, slot, gyre);
#endif
        return GYRE_KEYED_NOWHERE;
    }
    gyre_keyed_key_<K>(gyre_payload_(in), key);
    return gyre_keyed_note_<K>(run, slot, table, key, gyre_keyed_hash_of_<K>(table, key));
}

/* Stores the replies into the slots of their requests. Called by all threads, which have met. */
template <class K>
GYRE_HELPER void gyre_keyed_reply_(const gyre_block_view *view, const gyre_keyed_owner_ *owner,
                                   const gyre_chunk *cells)
{
    const gyre_u32 width = owner->width, all = 4 * width * view->routers;
    const gyre_u32 log2 = 31 - (gyre_u32)__clz((int)width);
    gyre_settle_(threadIdx.x < all);
#pragma unroll 1
    for (gyre_u32 chunk = threadIdx.x; chunk < all; chunk += GYRE_KEYED_THREADS) {
        const gyre_u32 slot = chunk / 4;
        const gyre_chunk *cell = cells + slot * gyre_stage_<K>::cell;
        const gyre_slot *in = (const gyre_slot *)cell;
        if ((slot & (width - 1)) >= owner->end[slot >> log2])
            continue;
#if GYRE_STAGE
        const gyre_u64 to = *gyre_keyed_linked_to_((gyre_chunk *)cell); /* nowhere while the flow goes on */
        (void)in;
        if (!to || (to & 1 && chunk % 4))
            continue;
#else
        const gyre_u64 to = (gyre_u64)gyre_reply_at_(&view->served[in->info], in->sequence - 1);
#endif
        gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1) + chunk % 4,
                          cell[gyre_stage_<K>::request_chunks + chunk % 4]); /* four neighbours, a line */
    }
}

/* Tells the routers what was handled. Called by all threads; one of each ring does it. */
GYRE_HELPER void gyre_keyed_handled_(const gyre_block_view *view, gyre_keyed_owner_ *owner, gyre_u8 *stage,
                                     gyre_u32 count)
{
    const gyre_u32 ring = threadIdx.x, size = gyre_keyed_ring_size_(view->routers);
    if (ring >= view->routers)
        return;
    const gyre_u64 clocks = (gyre_u64)clock64() - owner->began;
    const gyre_u64 fits = (gyre_u64)GYRE_KEYED_ROUTED_CLOCKS * count / (clocks + 1) / view->routers;
    const gyre_u64 limit = fits < size - 1 ? fits : size - 1; /* and a line that closes the ring */
    owner->next[ring] += owner->end[ring];
    *(volatile gyre_u64 *)gyre_keyed_word_(stage, ring) =
        (owner->next[ring] & 0xffffffffffffu) | (limit < GYRE_KEYED_LEAST ? GYRE_KEYED_LEAST : limit) << 48;
}

/* Chooses how many messages of each ring the next look reads. Called by one thread. */
GYRE_HELPER void gyre_keyed_adapt_(const gyre_block_view *view, gyre_keyed_owner_ *owner, gyre_u32 most)
{
    gyre_u32 longest = 0;
#pragma unroll 1
    for (gyre_u32 ring = 0; ring < view->routers; ring++)
        longest = owner->end[ring] > longest ? owner->end[ring] : longest;
    if (longest == owner->width && 2 * owner->width * view->routers <= most)
        owner->width *= 2;
    else if (longest < owner->width / 4 && owner->width > GYRE_KEYED_NARROW_)
        owner->width /= 2;
}

/* Handles what is in the cells. Called by all threads of an owner. Returns how many the thread failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_handle_routed_(const gyre_block_view *view, gyre_keyed_links_ *links,
                                               const gyre_keyed_owner_ *owner, gyre_keyed_run_ *run,
                                               gyre_chunk *cells, const gyre_keyed_table *table,
                                               gyre_context *gyre)
{
    const gyre_u32 thread = threadIdx.x, width = owner->width;
    gyre_u32 part = GYRE_KEYED_NOWHERE;
    if (thread < width * view->routers && (thread & (width - 1)) < owner->end[thread / width])
        part = gyre_keyed_receive_<K>(run, links, cells, thread, table, gyre);
    __syncthreads();
    if (part != GYRE_KEYED_NOWHERE)
        gyre_keyed_chain_(run, thread, part);
    __syncthreads();
    return gyre_keyed_handle_part_<K>(run, cells, GYRE_KEYED_ROUTED_, links, table, gyre);
}

/* Handles what the routers send, until all have closed their rings. Called by all threads of an owner. */
template <class K>
GYRE_HELPER void gyre_keyed_own_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                 gyre_keyed_links_ *links, gyre_keyed_run_ *run, gyre_keyed_owner_ *owner,
                                 gyre_chunk *cells, gyre_u32 most, gyre_context *gyre)
{
    gyre_u8 *stage = gyre_keyed_stage_of_(arguments, view, blockIdx.x - view->routers);
    const gyre_keyed_table *table = (const gyre_keyed_table *)arguments.state;
    __syncthreads();
    gyre_keyed_own_begin_(arguments, view, owner, stage);
    gyre_keyed_reminders_begin_<K>(arguments, view, blockIdx.x - view->routers, view->owners, gyre);
    __syncthreads();
    for (;;) {
        const gyre_u32 count = gyre_keyed_gather_<K>(view, owner, stage, cells);
        if (owner->closed == (1u << view->routers) - 1)
            break;
        if (threadIdx.x == 0 && count)
            gyre_turn_begins_(gyre_turn_(arguments, 0));
        if (threadIdx.x == 0)
            owner->began = (gyre_u64)clock64();
        if (count) {
            const gyre_u32 failed = gyre_keyed_handle_routed_<K>(view, links, owner, run, cells, table, gyre);
            if (failed)
                atomicAdd(&view->failed, (gyre_u64)failed);
            gyre_keyed_note_due_<K>(arguments, view, gyre);
            __syncthreads(); /* all replies are in their cells */
            gyre_keyed_reply_<K>(view, owner, cells);
            gyre_keyed_handled_(view, owner, stage, count);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            gyre_keyed_adapt_(view, owner, most);
            if (count) {
                gyre_turn_ends_(gyre_turn_(arguments, 0));
                atomicAdd(&view->handled, (gyre_u64)count);
            }
            gyre_tell_counts_(arguments, view);
        }
        __syncthreads();
        gyre_keyed_remind_due_<K>(arguments, view, blockIdx.x - view->routers, view->owners, gyre);
    }
    gyre_keyed_reminders_end_<K>(view);
}

/* Serves the queues with the other blocks, until another order. Called by all threads. */
template <class K>
GYRE_HELPER void gyre_keyed_serve_routed_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                          gyre_keyed_links_ *links, gyre_keyed_run_ *run, gyre_chunk *cells,
                                          gyre_context *gyre)
{
    __shared__ gyre_keyed_owner_
        owner; /* messages beyond a line are not routed (gyre_keyed_choose_routers_) */
    const gyre_u32 fits = (gyre_dynamic_size_() - GYRE_KEYED_FRONT_) / 16 / gyre_stage_<K>::cell;
    const gyre_u32 most = fits < GYRE_KEYED_THREADS ? fits : GYRE_KEYED_THREADS;
    if constexpr (gyre_stage_<K>::request_chunks <= 4 && gyre_stage_<K>::reply_chunks == 4) {
        if (blockIdx.x < view->routers)
            gyre_keyed_route_<K>(arguments, view, links, run, cells, most);
        else if (blockIdx.x < view->routers + view->owners)
            gyre_keyed_own_<K>(arguments, view, links, run, &owner, cells, most, gyre);
        else
            while (threadIdx.x == 0 && !gyre_order_changed_(view))
                gyre_rest_(2000);
    }
}

#endif
