/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works off a backlog of a stage: the block takes windows of up to GYRE_DRAIN_MOST messages of a line each through shared
 * memory, and each thread handles several of them. Included by cuda_links.h.
 *
 * It is for what suits the short way (cuda_link_lone.h), which finds the backlog. In one window everything is asked for
 * together: the messages, the room in the block's rings, the host's words. So what a window costs besides its messages is one
 * journey to memory. Links move a window on at once, so that the next stage finds a backlog too.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_DRAIN_H
#define GYRE_DIALECT_CUDA_LINK_DRAIN_H

#define GYRE_DRAIN_LEAST 8  /* messages found together that are a backlog */
#define GYRE_DRAIN_WAITS 16 /* looks for room, after which the long way looks for it */
/* windows of one backlog, after which a block looks elsewhere: one with more links and entries than there are blocks, or others */
#define GYRE_DRAIN_TURNS_SHORT 4
#define GYRE_DRAIN_TURNS_LONG  64

/* Bytes of a window for each message. */
template <class K> GYRE_HELPER constexpr gyre_u32 gyre_drain_bytes_()
{
    return GYRE_LINE_SIZE * (1 + gyre_link_shape_<K>::ports) + (gyre_u32)sizeof(gyre_u64);
}

template <class K> GYRE_HELPER gyre_drain_places_ gyre_drain_places_of_(gyre_chunk *memory)
{
    const gyre_u32 fit = gyre_dynamic_size_() / gyre_drain_bytes_<K>(), each = blockDim.x / 4;
    const gyre_u32 most = fit < GYRE_DRAIN_MOST ? fit : GYRE_DRAIN_MOST;
    const gyre_u32 rows = most / each < GYRE_CUDA_LOADS ? most / each : GYRE_CUDA_LOADS;
    const gyre_u32 lines = 1 + gyre_link_shape_<K>::ports;
    return {memory, (gyre_u64 *)(memory + lines * rows * each * GYRE_LINE_CHUNKS), rows};
}

/* Whether the block works off backlogs by windows. */
template <class K> GYRE_HELPER gyre_u32 gyre_drain_suits_(gyre_chunk *memory)
{
    return gyre_lone_suits_<K>() && gyre_drain_places_of_<K>(memory).rows > 0;
}

/* How many messages have room in every ring, as far as is known. Each may emit one to each port. */
template <class K> GYRE_HELPER gyre_u32 gyre_drain_room_(const gyre_link_view_ *links)
{
    gyre_u32 room = GYRE_DRAIN_MOST;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u32 left = out->mask + 1 - (gyre_u32)(out->head - out->tail);
        if (out->use == GYRE_PORT_LINKED && left < room)
            room = left;
    }
    return room;
}

/* ---- fetching ---- */

/** The window that is asked for, and what else is looked at meanwhile. */
struct gyre_drain_look_ {
    gyre_u32 rows, asked;
    gyre_u64 order, drop_before;
};

/* Looks at the host's words now and then. Called by thread 0. */
GYRE_HELPER void gyre_drain_ask_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                 const gyre_link_source_ &source, gyre_drain_look_ *look)
{
    gyre_block_view *view = links->view;
    GYRE_IN_SHARED_(view);
    if ((gyre_u64)clock64() - view->asked < GYRE_CUDA_LOOK_CLOCKS)
        return;
    view->asked = (gyre_u64)clock64();
    look->order = gyre_word_load_(view->order_word);
    if (source.entry)
        look->drop_before = gyre_word_load_(view->served[source.which].drop_before);
    gyre_link_tell_(arguments, view);
}

/* Asks for the rows of a window. */
GYRE_HELPER void gyre_drain_load_(const gyre_link_source_ &source, const gyre_drain_look_ &look,
                                  gyre_chunk *mine)
{
    const gyre_u32 part = threadIdx.x & 3;
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_CUDA_LOADS; row++) {
        const gyre_u32 slot = (threadIdx.x + row * blockDim.x) >> 2;
        const gyre_u64 at = ((gyre_u32)source.next + slot) & source.mask;
        mine[row] = gyre_chunk_load_if_(row < look.rows && slot < look.asked && part * 16 < source.stride,
                                        source.slots + at * source.stride + part * 16);
    }
}

/* Puts the rows into the window. Returns the first slot of this thread that is not filled. */
GYRE_HELPER gyre_u32 gyre_drain_put_(const gyre_link_source_ &source, const gyre_drain_look_ &look,
                                     const gyre_chunk *mine, gyre_chunk *lines)
{
    const gyre_u32 part = threadIdx.x & 3;
    gyre_u32 missing = look.asked;
#pragma unroll
    for (gyre_u32 row = 0; row < GYRE_CUDA_LOADS; row++) {
        const gyre_u32 slot = (threadIdx.x + row * blockDim.x) >> 2;
        const gyre_u64 index = source.next + slot + 1;
        const gyre_u32 there =
            source.entry ? mine[row].x == index : (gyre_u32)(mine[row].y >> 32) == (gyre_u32)index;
        if (row >= look.rows || slot >= look.asked)
            continue;
        const gyre_u32 tapped = !source.entry && mine[row].x & GYRE_ORIGIN_TAP; /* it goes the long way */
        if (part == 0 && (!there || tapped) && slot < missing)
            missing = slot;
        lines[gyre_swizzle_(slot, part)] = mine[row];
    }
    return missing;
}

/* ---- handling ---- */

/** What became of a thread's messages of a window. */
struct gyre_drain_sum_ {
    gyre_u32 counted, ends, failed;
};

#if !GYRE_LIMITED
/*
 * Accounts for the messages of a warp, except that what is counted off flows is noted in the window. `came_to`: gyre_link_message_.to behind
 * gyre_lone_handle_. Called by a whole warp.
 */
GYRE_OUTLINE_ void gyre_drain_account_(gyre_link_view_ *links, gyre_u64 origin, gyre_u64 came_to,
                                       gyre_u64 *to)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 owes = came_to >= GYRE_LONE_OWES_;
    const gyre_link_message_ message = {origin, 0, 0, 0, 0, owes, owes ? (gyre_u32)came_to : 0};
    const gyre_u32 fewer = gyre_account_warp_(links, &message);
    if (!fewer)
        return;
    *to = GYRE_DRAIN_OWES_ | (gyre_u64)fewer << GYRE_DRAIN_FEWER_SHIFT | GYRE_DRAIN_ORIGIN_(origin);
    *(volatile gyre_u32 *)&links->owed = 1;
}

/*
 * Counts the messages of a window off their flows, and writes the completions of those that end. Called by all threads behind a fence; a
 * barrier follows.
 */
GYRE_OUTLINE_ void gyre_drain_pay_(const gyre_link_view_ *links, gyre_drain_places_ places, gyre_u32 count)
{
    GYRE_IN_SHARED_(links);
    enum { AT_ONCE = 2 };
#pragma unroll 1
    for (gyre_u32 base = threadIdx.x; base < count; base += AT_ONCE * blockDim.x) {
        gyre_u64 owed[AT_ONCE];
        gyre_u32 left[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const gyre_u32 slot = base + i * blockDim.x;
            owed[i] = slot < count ? places.to[slot] : 0;
            owed[i] = owed[i] & GYRE_DRAIN_OWES_ ? owed[i] : 0;
            if (owed[i])
                left[i] = gyre_account_take_(gyre_flow_of_(links, GYRE_DRAIN_ORIGIN_(owed[i])),
                                             GYRE_DRAIN_FEWER_(owed[i]));
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const gyre_u32 slot = base + i * blockDim.x;
            gyre_chunk line[GYRE_LINE_CHUNKS] = {};
            if (!owed[i])
                continue;
            places.to[slot] = 0;
            if (left[i] != GYRE_DRAIN_FEWER_(owed[i]))
                continue;
            places.to[slot] = gyre_account_end_(links, GYRE_DRAIN_ORIGIN_(owed[i]), (gyre_slot *)line);
#pragma unroll
            for (int part = 0; part < GYRE_LINE_CHUNKS; part++)
                places.lines[gyre_swizzle_(slot, (gyre_u32)part)] = line[part];
        }
    }
}
#endif

/* Keeps what a message emitted to one port, and in `marks` who of the warp emitted. Called by a whole warp. */
GYRE_HELPER void gyre_drain_keep_(const gyre_link_out_ *out, gyre_u32 *marks, gyre_chunk *lines,
                                  gyre_u32 slot, gyre_chunk *given, gyre_u32 emitted, gyre_u64 origin)
{
    const gyre_u32 givers = __ballot_sync(GYRE_ALL_LANES, emitted);
    if ((threadIdx.x & 31) == 0)
        marks[slot >> 5] = givers;
    if (!emitted)
        return;
    const gyre_u32 said = (gyre_u32)given[1].x;
    given[0] = {origin, GYRE_REPLY_LENGTH_(out->type.least, out->type.size, said)};
#pragma unroll
    for (int i = 0; i < GYRE_LINE_CHUNKS; i++)
        lines[gyre_swizzle_(slot, (gyre_u32)i)] = given[i];
}

/* Handles the message of one slot. Called by whole warps, also if their last slots lie behind the window. */
template <class K>
GYRE_HELPER void gyre_drain_handle_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                    const gyre_link_source_ &source, const gyre_drain_places_ &places,
                                    gyre_u32 slot, gyre_u32 count, gyre_drain_sum_ *sum, const void *buffers,
                                    gyre_context *gyre)
{
    enum { port_count = gyre_link_shape_<K>::ports };
    const gyre_u32 size = places.rows * (blockDim.x / 4) * GYRE_LINE_CHUNKS;
    gyre_chunk line[GYRE_LINE_CHUNKS];
    gyre_lone_given_<K> given = {};
    gyre_cuda_port ports[port_count + 1];
    gyre_link_message_ message = {0, source.next + slot, 0, 0, 0};
    if ((slot & ~31u) >= count)
        return;
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        ports[i] = {(gyre_u8 *)given.lines[i], 0, 0, GYRE_LINE_SIZE, 1, 0};
    gyre->ports = ports;
    if (slot < count) {
#pragma unroll
        for (int i = 0; i < GYRE_LINE_CHUNKS; i++)
            line[i] = places.lines[gyre_swizzle_(slot, (gyre_u32)i)];
        message.origin = gyre_lone_origin_(source, line, message.index);
        sum->failed +=
            gyre_lone_handle_<K, true>(arguments, links, source, line, ports, &message, buffers, gyre);
        if (gyre_sink_suits_<K>())
            sum->ends |= gyre->failed;
        sum->counted |= message.counted;
        places.to[slot] = message.to < GYRE_LONE_OWES_ ? message.to : 0;
        if (places.to[slot]) {
            sum->ends = 1;
#pragma unroll
            for (int i = 0; i < GYRE_LINE_CHUNKS; i++)
                places.lines[gyre_swizzle_(slot, (gyre_u32)i)] = line[i];
        }
    }
    __syncwarp();
#if !GYRE_LIMITED
    if (__any_sync(GYRE_ALL_LANES, message.to >= GYRE_LONE_OWES_))
        gyre_drain_account_(links, message.origin, message.to, &places.to[slot]);
#endif
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        gyre_drain_keep_(&links->outs[i], links->marks + i * GYRE_DRAIN_GROUPS, places.lines + (1 + i) * size,
                         slot, given.lines[i], message.next ? ports[i].emitted : 0, message.next);
}

/* ---- what leaves ---- */

/*
 * Publishes what a window emitted to one port, in the order of the window. Returns how many messages. Called by all threads;
 * the threads of a warp move messages of one group of 32.
 */
GYRE_HELPER gyre_u32 gyre_drain_publish_(const gyre_link_out_ *out, const gyre_u32 *marks,
                                         const gyre_chunk *lines, gyre_u32 count)
{
    const gyre_u32 lane = threadIdx.x & 31, part = threadIdx.x & 3, groups = (count + 31) / 32;
    const gyre_u32 mine = lane < groups ? marks[lane] : 0, own = (gyre_u32)__popc(mine);
    const gyre_u32 sum = gyre_link_scan_(own), before = sum - own;
    const gyre_u64 head = out->head;
    const gyre_u32 linked = out->use == GYRE_PORT_LINKED && part * 16 < out->stride;
#pragma unroll 1
    for (gyre_u32 base = 0; base < count; base += blockDim.x >> 2) {
        const gyre_u32 slot = base + (threadIdx.x >> 2), group = slot >> 5;
        const gyre_u32 givers = __shfl_sync(GYRE_ALL_LANES, mine, (int)group);
        const gyre_u32 below = givers & ((1u << (slot & 31)) - 1);
        const gyre_u64 at = head + __shfl_sync(GYRE_ALL_LANES, before, (int)group) + (gyre_u32)__popc(below);
        if (!linked || slot >= count || !(givers >> (slot & 31) & 1))
            continue;
        gyre_chunk chunk = lines[gyre_swizzle_(slot, part)];
        if (part == 0)
            chunk.y |= (at + 1) << 32;
        gyre_u8 *const to = gyre_link_slot_(out, at) + 16 * part;
        gyre_near_chunk_store_(to, chunk); /* one instruction for the line */
    }
    return __shfl_sync(GYRE_ALL_LANES, sum, 31);
}

/* Stores the completions of a window. */
GYRE_HELPER void gyre_drain_complete_(const gyre_drain_places_ &places, gyre_u32 count)
{
    const gyre_u32 part = threadIdx.x & 3;
    gyre_settle_(threadIdx.x < GYRE_LINE_CHUNKS * count);
#pragma unroll 1
    for (gyre_u32 slot = threadIdx.x >> 2; slot < count; slot += blockDim.x >> 2) {
        const gyre_u64 to = places.to[slot];
        if (to && (part == 0 || !(to & 1)))
            gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1) + part,
                              places.lines[gyre_swizzle_(slot, part)]);
    }
}

/* ---- windows ---- */

/* Claims the messages of a window of a shared ring. Returns 0 if another block claimed some first. Called by all threads. */
GYRE_HELPER gyre_u32 gyre_drain_claim_(gyre_link_view_ *links, const gyre_link_source_ &source,
                                       gyre_u32 count)
{
    gyre_u64 *claimed = &links->inlets[source.which].ring->claimed;
    if (threadIdx.x == 0)
        links->found =
            count && atomicCAS(claimed, source.next, source.next + count) == source.next ? count : 0;
    __syncthreads();
    return links->found;
}

/* Whether this thread, of 64 at least, reads the lap of the entry of its number, whose flows the window may end. */
template <class K>
GYRE_HELPER gyre_u32 gyre_drain_asks_lap_(const gyre_link_view_ *links, const gyre_link_source_ &source)
{
    return gyre_lone_ends_<K>() && !source.entry && threadIdx.x < links->entry_count &&
           links->entries[threadIdx.x].flows;
}

/* Fetches a window. Returns how many messages it has, which are taken. Called by all threads. */
template <class K>
GYRE_HELPER gyre_u32 gyre_drain_fetch_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                       const gyre_link_source_ &source, const gyre_drain_places_ &places,
                                       gyre_drain_look_ *look, gyre_sink_debt_ *debt)
{
    enum { port_count = gyre_link_shape_<K>::ports };
    gyre_block_view *view = links->view;
    GYRE_IN_SHARED_(view);
    gyre_chunk mine[GYRE_CUDA_LOADS];
    gyre_u64 tails[port_count + 1];
    gyre_drain_load_(source, *look, mine);
    gyre_u64 lap = 0;
    if (gyre_drain_asks_lap_<K>(links, source)) /* behind the messages: no lap is of before them */
        lap = gyre_near_load_(&gyre_entry_head_(&links->entries[threadIdx.x])->lap);
    if (threadIdx.x < 32) {
#pragma unroll
        for (int i = 0; i < (int)port_count; i++)
            if (links->outs[i].use == GYRE_PORT_LINKED)
                tails[i] = gyre_link_tail_behind_(
                    &links->outs[i],
                    __ballot_sync(GYRE_ALL_LANES, gyre_link_is_whole_(&links->outs[i], threadIdx.x)));
        if (source.entry)
            gyre_look_ahead_lines_(view, &view->served[source.which], source.next + look->asked);
    }
    if (threadIdx.x == 0)
        gyre_drain_ask_(arguments, links, source, look);
#if !GYRE_LIMITED
    if constexpr (gyre_sink_suits_<K>()) /* while the messages are on their way */
        gyre_sink_end_(links, debt);
#endif
    gyre_note_missing_(view, gyre_drain_put_(source, *look, mine, places.lines), look->asked);
    const gyre_u32 waits = !gyre_sink_suits_<K>() || !links->far;
    if (waits && gyre_drain_asks_lap_<K>(links, source))
        links->entries[threadIdx.x].lap = lap;
    __syncthreads();
    if (!waits && __syncthreads_or((int)gyre_sink_has_sole_(mine))) {
        if (gyre_drain_asks_lap_<K>(links, source))
            links->entries[threadIdx.x].lap = lap;
        __syncthreads();
    }
    gyre_u32 count = view->first_bad < look->asked ? view->first_bad : look->asked;
    if (source.shared)
        count = gyre_drain_claim_(links, source, count);
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < (int)port_count; i++)
            if (links->outs[i].use == GYRE_PORT_LINKED && tails[i] != links->outs[i].tail) {
                links->outs[i].tail = tails[i];
                gyre_near_store_(&links->outs[i].ring->tail, tails[i]);
                if (links->outs[i].share) /* as in gyre_link_make_room_ */
                    gyre_link_fence_(links->far);
            }
        if (count) {
            gyre_turn_begins_(gyre_turn_(arguments, 0));
            gyre_lone_take_(links, source, count);
        }
    }
    return count;
}

/* Handles a window and publishes it. `goes_on`: thread 0 says whether another one follows. Returns that in all threads. */
template <class K>
GYRE_HELPER gyre_u32 gyre_drain_pass_on_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                         const gyre_link_source_ &source, const gyre_drain_places_ &places,
                                         gyre_u32 count, gyre_u32 goes_on, gyre_sink_debt_ *debt,
                                         const void *buffers, gyre_context *gyre)
{
    enum { port_count = gyre_link_shape_<K>::ports };
    const gyre_u32 size = places.rows * (blockDim.x / 4) * GYRE_LINE_CHUNKS;
    gyre_u32 totals[port_count + 1];
    gyre_drain_sum_ sum = {0, 0, 0};
#pragma unroll 1
    for (gyre_u32 base = 0; base < count; base += blockDim.x)
        gyre_drain_handle_<K>(arguments, links, source, places, base + threadIdx.x, count, &sum, buffers,
                              gyre);
    if (sum.failed)
        atomicAdd(&links->view->failed, (gyre_u64)sum.failed);
    gyre_u32 ends = (gyre_u32)__syncthreads_or((int)sum.ends);
    const gyre_u32 owes = *(volatile gyre_u32 *)&links->owed;
    const gyre_u32 notes = !gyre_sink_suits_<K>() || ends || *gyre_opened_();
    if ((owes && notes) || (port_count > 0 && __syncthreads_or((int)sum.counted))) {
        if (threadIdx.x == 0)
            gyre_link_fence_(links->far); /* accounts are there before what was emitted is published */
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        totals[i] = gyre_drain_publish_(&links->outs[i], links->marks + i * GYRE_DRAIN_GROUPS,
                                        places.lines + (1 + i) * size, count);
#if !GYRE_LIMITED
    if constexpr (gyre_sink_suits_<K>()) {
        if (owes)
            gyre_sink_begin_(links, places, count, debt);
        if (owes && ends)
            __syncthreads();
    } else if (owes) {
        gyre_drain_pay_(links, places, count);
        __syncthreads();
        if (threadIdx.x == 0)
            links->owed = 0; /* a barrier follows */
        ends = 1;
    }
#endif
    if (ends)
        gyre_drain_complete_(places, count);
    goes_on = (gyre_u32)__syncthreads_or((int)goes_on); /* and all threads have read the heads */
    if (threadIdx.x == 0) {
        if constexpr (gyre_sink_suits_<K>())
            links->owed = 0; /* which all threads have read */
#pragma unroll
        for (int i = 0; i < (int)port_count; i++)
            gyre_link_advance_(&links->outs[i], links->outs[i].head + totals[i]);
        links->view->handled += count;
    }
    return goes_on;
}

/* How many rows to ask for next (gyre_rows_next_). */
GYRE_HELPER gyre_u32 gyre_drain_rows_(const gyre_block_view *view, gyre_u32 asked, gyre_u32 count,
                                      gyre_u32 most)
{
    const gyre_u32 rows = gyre_rows_next_(view, asked, count);
    return rows < most ? rows : most;
}

/*
 * Notes why the drain ended: for want of messages, of room, or of patience, or for another order, which only the long way obeys
 * at once. Called by thread 0.
 */
GYRE_HELPER void gyre_drain_end_(gyre_link_view_ *links, const gyre_link_source_ &source, gyre_u32 waits,
                                 gyre_u32 more, gyre_u32 leaves)
{
    const gyre_u64 bit = (gyre_u64)1 << source.which;
    links->tight = waits >= GYRE_DRAIN_WAITS;
    links->aside = more || leaves;
    if (source.entry)
        links->wide = more || links->tight ? links->wide | bit : links->wide & ~bit;
    else
        links->inlets_wide = more || links->tight ? links->inlets_wide | bit : links->inlets_wide & ~bit;
    links->turn += more;
    links->run.from = GYRE_RUN_LATER;
}

/*
 * Works off a backlog until there is none, another order comes, there is no room for long, or others have waited for long.
 * Called by all threads.
 */
template <class K>
GYRE_HELPER void gyre_link_drain_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                  gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    const gyre_drain_places_ places = gyre_drain_places_of_<K>(memory);
    const gyre_u32 each = blockDim.x / 4;
    const gyre_u32 turns =
        links->inlet_count + links->enters > gridDim.x ? GYRE_DRAIN_TURNS_SHORT : GYRE_DRAIN_TURNS_LONG;
    gyre_block_view *view = links->view;
    GYRE_IN_SHARED_(view);
    gyre_link_source_ source = links->source;
    gyre_u32 turn = 0, waits = 0, more = 1, leaves = 0, goes_on = 1, rows = places.rows;
    gyre_sink_debt_ debt = {};
    GYRE_QUEUE_BEGIN_(gyre, &links->nowhere);
    if (threadIdx.x == 0)
        view->first_bad = places.rows * each;
    __syncthreads();
    while (goes_on) {
        const gyre_u32 room = gyre_drain_room_<K>(links), wanted = rows * each;
        gyre_drain_look_ look = {rows, wanted < room ? wanted : room, view->order, 0};
        const gyre_u32 count = gyre_drain_fetch_<K>(arguments, links, source, places, &look, &debt);
        waits = count ? 0 : waits + 1;
        more = look.asked ? count >= GYRE_DRAIN_LEAST : waits < GYRE_DRAIN_WAITS;
        const gyre_u32 stays = look.order == view->order && look.drop_before <= source.next + count;
        goes_on =
            gyre_drain_pass_on_<K>(arguments, links, source, places, count,
                                   threadIdx.x == 0 && stays && more && ++turn < turns, &debt, buffers, gyre);
        source.next += count;
        rows = source.entry ? gyre_drain_rows_(view, look.asked, count, places.rows) : places.rows;
        if (threadIdx.x == 0) {
            view->first_bad = places.rows * each;
            if (look.drop_before)
                view->served[source.which].dropping = look.drop_before;
            leaves = look.order != view->order;
            if (leaves)
                view->asked = 0; /* the long way looks at once */
        }
        __syncthreads();
    }
    if constexpr (gyre_sink_suits_<K>())
        gyre_sink_end_(links, &debt);
    if (threadIdx.x == 0) {
        gyre_drain_end_(links, source, waits, more, leaves);
        gyre_turn_ends_(gyre_turn_(arguments, 0));
    }
    __syncthreads();
}

#endif
