/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way of asks and answers: the first warp takes one message of a link, lane 0 handles it, and what comes of it leaves by one
 * instruction of the warp, without a fence and without an atomic operation. Included by cuda_links.h in files that are compiled with
 * GYRE_ASKS.
 *
 * It is for blocks that serve their kernel alone, and for messages that are their flow's only one, in slots of two lines, whose handler
 * asks once and does nothing else, or replies to whoever asked. All else goes the long way. What a handler did that is not for the short
 * way is settled by the block (gyre_talk_settle_): no handler is called twice.
 *
 * A message of two lines: other blocks see each line whole, and not both at once. So the second line says the message's number as well, in
 * the last word of `returns`, which is free while fewer asks wait for each other. A message says in its depth that it is such a one.
 *
 * What asks and answers change in the flow's number of open asks travels with the message (`carry`), as long as it is the only one. Whoever
 * settles a message the long way adds it to the flow first. So the number in the flow is right for whoever reads it, and a chain of asks
 * touches no memory but its messages.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_TALK_H
#define GYRE_DIALECT_CUDA_LINK_TALK_H

#define GYRE_TALK_PARTS      8 /* pieces of a slot of two lines, a lane each */
#define GYRE_TALK_INLETS     4 /* links that a warp looks at once */
#define GYRE_TALK_STRIDE     (GYRE_TALK_PARTS * 16)
#define GYRE_TALK_DEEP       6  /* with one ask more, all of `returns` is in use */
#define GYRE_TALK_LOOKS      64 /* looks that found nothing, until the long way looks */
#define GYRE_TALK_LOOKS_AFAR 16 /* of a block that has queues to look at */
#define GYRE_TALK_LONG_WAY   64 /* runs until another look here, when messages are for the long way */
#define GYRE_TALK_RUNS_MOST  16 /* runs that the block had to settle, until the long way finds one */

/* Whether the messages of K may go the short way. */
template <class K> GYRE_HELPER constexpr bool gyre_talk_suits_()
{
    return K::gyre_its_kernel_form_ != 2 && !GYRE_HEADED && !GYRE_TIMED && !GYRE_SEALED &&
           K::gyre_its_request_size_ <= GYRE_SLOT_SMALL_PAYLOAD;
}

/* Whether what K asks by a port lies in shared memory until it leaves; else it lies in the ring. */
template <class K> GYRE_HELPER constexpr bool gyre_talk_stages_(int port)
{
    return K::gyre_its_ports_::of(port).asks && K::gyre_its_ports_::of(port).most == 1 &&
           K::gyre_its_ports_::of(port).size <= GYRE_SLOT_SMALL_PAYLOAD;
}

/** What became of a message. */
enum gyre_talk_end_ {
    GYRE_TALK_ENDS_LONG = 0, /* the block has to settle it */
    GYRE_TALK_ENDS_ASKED,
    GYRE_TALK_ENDS_ANSWERED
};

/* ---- looking ---- */

/* Whether levels tell the inlet from the first one: then whose message comes first is for the long way (cuda_link_level.h). */
#if GYRE_LEVELS
#define GYRE_TALK_IS_RANKED_(links, in) ((in)->level != (links)->inlets[0].level)
#else
#define GYRE_TALK_IS_RANKED_(links, in) 0
#endif

/* Whether the block may take the short way now. Messages of a pool are found another way. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_talk_may_(gyre_link_view_ *links)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31, count = links->inlet_count;
    const gyre_u32 rests = links->talk_rests;
    __syncwarp();
    if (rests && lane == 0)
        links->talk_rests = rests - 1;
    if (rests || !count || count > GYRE_TALK_INLETS || gridDim.x > 1 || blockDim.x < 32 || links->needs ||
        links->branch_count || links->aside || GYRE_LINK_KEEPS_(links))
        return 0;
    const gyre_link_in_ *in = &links->inlets[lane];
    return !__any_sync(GYRE_ALL_LANES,
                       lane < count && (in->share || in->pool || in->stride > GYRE_TALK_STRIDE ||
                                        GYRE_TALK_IS_RANKED_(links, in)));
}

/* Whether each ring has room for one call, as far as is known. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_talk_room_(const gyre_link_view_ *links)
{
    const gyre_u32 lane = threadIdx.x & 31;
    const gyre_link_out_ *out = &links->outs[lane % GYRE_PORTS_MAX];
    const gyre_u32 is_full =
        lane < links->port_count && out->use == GYRE_PORT_LINKED && gyre_link_fits_(out, out->tail) == 0;
    return !__any_sync(GYRE_ALL_LANES, is_full);
}

/*
 * Looks at what the host may have changed, when that was long ago. Returns whether the long way has to see to it: there is another order,
 * or a request. Called by the first warp.
 */
GYRE_OUTLINE_ gyre_u32 gyre_talk_glance_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links)
{
    GYRE_IN_SHARED_(links);
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_block_view *view = links->view;
    gyre_u32 there = 0;
    if (view->queue_count > 32)
        return 1;
    if (lane == 0)
        gyre_link_tell_(arguments, view);
    const gyre_u64 order = lane == 31 ? gyre_word_load_(view->order_word) : view->order;
    if (lane < view->queue_count) {
        const gyre_served *queue = &view->served[lane];
        const gyre_u64 next = gyre_near_load_(&queue->claims->next);
        there = gyre_word_load_(&gyre_request_at_(queue, next)->sequence) == next + 1;
    }
    const gyre_u32 leaves = __any_sync(GYRE_ALL_LANES, order != view->order);
    there = __any_sync(GYRE_ALL_LANES, there);
    if (lane == 0) {
        view->asked = leaves ? 0 : (gyre_u64)clock64(); /* 0: the long way looks at once */
        links->aside = there;
    }
    __syncwarp();
    return there || leaves;
}

/* Takes a message of a link for a run of its own. Called by lane 0. */
GYRE_HELPER void gyre_talk_take_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                 gyre_u32 number)
{
    gyre_link_in_ *in = &links->inlets[number];
    const gyre_u64 first = in->next;
    gyre_turn_begins_(gyre_turn_(arguments, 0));
    in->next = first + 1;
    links->run = {first, in->mask, 0, in->slots, in->ring, GYRE_RUN_LINK, 1, in->stride, number, 0, 0, 0};
    links->turn++;
}

/* Notes that the block has to settle the run. One that always has such a run does not forget what only the long way finds. */
GYRE_HELPER void gyre_talk_note_long_(gyre_link_view_ *links)
{
    if (++links->talk_runs % GYRE_TALK_RUNS_MOST == 0)
        links->talk_rests = 1;
}

/* Gives the place of the run's message back, which nobody waits for so soon. Called by lane 0. */
GYRE_HELPER void gyre_talk_give_back_(const gyre_link_view_ *links)
{
    const gyre_link_in_ *in = &links->inlets[links->run.which];
    const gyre_u64 first = links->run.first;
    gyre_near_store_(&in->ring->claimed, first + 1);
    gyre_near_add_(&in->fetched[((gyre_u32)first & in->mask) >> gyre_link_shift_(in->mask)], 1);
}

/* ---- handling ---- */

/* Says where the ports of a call lead: of what is asked, to `staged`. */
template <class K>
GYRE_HELPER void gyre_talk_aim_(const gyre_link_view_ *links, const gyre_link_places_ &places,
                                gyre_chunk *staged, gyre_cuda_port *ports)
{
    bool all = true;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        all = all && gyre_talk_stages_<K>(i);
    if (!all)
        gyre_link_aim_<K>(links, places, ports, 0, 1);
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        if (gyre_talk_stages_<K>(i))
            ports[i] = {(gyre_u8 *)&staged[i * GYRE_TALK_PARTS] + sizeof(gyre_link_ask), 0, 0, 0, 1, 0};
}

/* Makes the context of the run's message: as gyre_link_begin_ and gyre_link_enter_ do for one that is its flow's only one. */
template <class K>
GYRE_HELPER void gyre_talk_begin_(const gyre_link_view_ *links, gyre_u64 origin, gyre_context *gyre)
{
    gyre_link_message_ message = {};
    message.origin = origin;
    gyre->failed = 0;
    gyre->origin = origin;
    gyre->index = links->run.first;
    gyre->entry = gyre_entry_of_(links, origin);
    gyre->clears = GYRE_LINK_CLEARS_(links, 0);
    gyre->again = gyre->turn = 0;
    GYRE_LINK_TAKE_TOKEN_(links, 0, gyre);
    gyre_link_remember_<K>(links, &message, gyre);
}

/* Whether the call only asked, by a port of which the short way knows. Writes to whom into the ask of the message. */
template <class K>
GYRE_HELPER gyre_u32 gyre_talk_asks_(gyre_link_view_ *links, gyre_chunk *staged, const gyre_cuda_port *ports)
{
    gyre_link_ask *const mine = (gyre_link_ask *)links->asks;
    const gyre_u32 depth = GYRE_ASK_DEPTH_(mine);
    gyre_u32 emitted = 0, port = GYRE_PORTS_MAX;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        emitted += ports[i].emitted;
        if (gyre_talk_stages_<K>(i) && ports[i].emitted)
            port = (gyre_u32)i;
    }
    if (emitted != 1 || port == GYRE_PORTS_MAX || depth >= GYRE_TALK_DEEP)
        return 0;
    const gyre_link_out_ *out = &links->outs[port];
    if (out->use != GYRE_PORT_LINKED || out->stride != GYRE_TALK_STRIDE)
        return 0;
    const gyre_link_ask *said = (const gyre_link_ask *)&staged[port * GYRE_TALK_PARTS + 1];
    mine->returns[depth].port = out->back;
    mine->returns[depth].token = said->token;
    mine->token = 0;
    mine->depth = GYRE_ASK_WORD_(depth + 1, GYRE_ASK_CARRY_(mine) + 1);
    links->talk_port = port;
    links->talk_from = &staged[port * GYRE_TALK_PARTS + 5];
    links->talk_length = gyre_link_length_(out, (const gyre_u8 *)&staged[port * GYRE_TALK_PARTS]);
    return 1;
}

/* Whether the call, which emitted nothing, replied to whoever asked. Writes that into the ask of the message. */
template <class K>
GYRE_HELPER gyre_u32 gyre_talk_answers_(gyre_link_view_ *links, const gyre_slot *out,
                                        const gyre_cuda_port *ports)
{
    gyre_link_ask *const mine = (gyre_link_ask *)links->asks;
    const gyre_u32 depth = GYRE_ASK_DEPTH_(mine), length = gyre_reply_length_<K>(out);
    gyre_u32 emitted = 0;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        emitted += ports[i].emitted;
    if (emitted || !depth || depth > GYRE_TALK_DEEP || !length || length > GYRE_SLOT_SMALL_PAYLOAD)
        return 0;
    const gyre_u32 port = gyre_ask_way_back_(links, mine);
    if (port == GYRE_PORTS_MAX || links->outs[port].stride != GYRE_TALK_STRIDE || links->outs[port].choice)
        return 0;
    mine->token = mine->returns[depth - 1].token;
    mine->depth = GYRE_ASK_WORD_(depth - 1, GYRE_ASK_CARRY_(mine) - 1);
    links->talk_port = port;
    links->talk_from = (const gyre_chunk *)(out + 1);
    links->talk_length = length;
    return 1;
}

/* Handles the message in the first cell. Returns what became of it. Called by lane 0. */
template <class K>
GYRE_HELPER gyre_u32 gyre_talk_handle_(gyre_link_view_ *links, const gyre_link_places_ &places,
                                       gyre_chunk *staged, void *state, const void *buffers,
                                       gyre_context *gyre)
{
    gyre_cuda_port ports[gyre_link_shape_<K>::ports + 1];
    const gyre_slot *in = (const gyre_slot *)places.cells;
    gyre_slot *out = (gyre_slot *)(places.cells + gyre_stage_<K>::request_chunks);
    gyre_u32 end = GYRE_TALK_ENDS_LONG;
    gyre->ports = ports;
    gyre->spare = places.thrown;
    gyre_talk_begin_<K>(links, places.cells[0].x, gyre);
    gyre_talk_aim_<K>(links, places, staged, ports);
    const int result = K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state, 0, buffers, gyre);
    if (!gyre->failed && !gyre->again && result != GYRE_OUTCOME_REPLY &&
        gyre_talk_asks_<K>(links, staged, ports))
        end = GYRE_TALK_ENDS_ASKED;
    else if (!gyre->failed && !gyre->again && result == GYRE_OUTCOME_REPLY &&
             gyre_talk_answers_<K>(links, out, ports))
        end = GYRE_TALK_ENDS_ANSWERED;
    if (end != GYRE_TALK_ENDS_LONG)
        return end;
    gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
    links->talked = 1;
    links->again = gyre->again;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        links->talk_emitted[i] = ports[i].emitted;
    return GYRE_TALK_ENDS_LONG;
}

/*
 * Settles the message of the run, whose handler was called on the short way, as if it had been called now. Returns 1 when it failed.
 * Called by thread 0.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_talk_settle_(gyre_link_view_ *links, const gyre_link_places_ &places,
                                       gyre_cuda_port *ports, gyre_link_message_ *message, gyre_context *gyre)
{
    gyre_slot *out = (gyre_slot *)(places.cells + gyre_stage_<K>::request_chunks);
    *message = gyre_link_begin_(links, (const gyre_slot *)places.cells, 0, gyre);
    message->again = *(volatile gyre_u32 *)&links->again;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_chunk *from = &links->talk_staged[i * GYRE_TALK_PARTS];
        ports[i].emitted = links->talk_emitted[i];
        if (!gyre_talk_stages_<K>(i) || !ports[i].emitted)
            continue;
        gyre_chunk *to = (gyre_chunk *)(ports[i].slots - sizeof(gyre_link_ask) +
                                        (gyre_u64)(ports[i].next & ports[i].mask) *
                                            ports[i].stride); /* or where it is thrown */
        const gyre_u32 end =
            (GYRE_SLOT_HEADER_SIZE + sizeof(gyre_link_ask) + K::gyre_its_ports_::of(i).size + 15) / 16;
#pragma unroll 1
        for (gyre_u32 part = 1; part < end; part++)
            to[part] = from[part];
    }
    gyre_link_settle_<K>(links, message, ports, out);
    return out->info == GYRE_OUTCOME_FAILED;
}

/* ---- the way ---- */

/* Publishes what links->talk_port gets. Called by the first warp. */
GYRE_HELPER void gyre_talk_send_(gyre_link_view_ *links, gyre_u64 origin)
{
    const gyre_u32 part = threadIdx.x & 31;
    gyre_link_out_ *out = &links->outs[links->talk_port];
    const gyre_u64 head = out->head;
    gyre_chunk mine = {GYRE_ORIGIN_NEXT(origin) | GYRE_ORIGIN_SOLE, (head + 1) << 32 | links->talk_length};
    if (part > 0 && part <= GYRE_ASK_CHUNKS)
        mine = links->asks[part - 1];
    else if (part > GYRE_ASK_CHUNKS && part < GYRE_TALK_PARTS)
        mine = links->talk_from[part - 1 - GYRE_ASK_CHUNKS];
    if (part == GYRE_ASK_CHUNKS)
        mine.y = (head + 1) << 32;
    if (part < GYRE_TALK_PARTS)
        gyre_near_chunk_store_(gyre_link_slot_(out, head) + 16 * part, mine);
    __syncwarp(); /* all lanes have read the head */
    if (part == 0)
        gyre_link_advance_(out, head + 1);
}

/**
 * A look at the block's links: each lane has a piece of a message, eight of them one of a link. Where `from` says that there is a message,
 * it is that of the lanes from there on.
 */
struct gyre_talk_look_ {
    gyre_link_in_ in;
    gyre_chunk mine;
    gyre_u32 looks_at; /* the lane has a piece */
    gyre_u32 last;     /* lanes up to it come last: of several links none is forgotten */
    gyre_u32 from;     /* 32: there is no message */
    gyre_u32 talks;    /* the message has a gyre_link_ask */
};

/* Whether a look at what the host may have changed is due. Called by the first warp. */
GYRE_HELPER gyre_u32 gyre_talk_is_due_(const gyre_link_view_ *links)
{
    const gyre_u32 due = (gyre_u64)clock64() - links->view->asked >= GYRE_LINK_LOOK_CLOCKS_;
    return __shfl_sync(GYRE_ALL_LANES, due, 0);
}

/* Looks once. Called by the first warp. */
GYRE_HELPER void gyre_talk_look_at_(gyre_talk_look_ *look)
{
    const gyre_u32 part = threadIdx.x % GYRE_TALK_PARTS;
    const gyre_u8 *slot = look->in.slots + ((gyre_u32)look->in.next & look->in.mask) * look->in.stride;
    gyre_chunk mine = {0, 0};
    look->from = 32;
    if (look->looks_at)
        mine = gyre_near_chunk_load_(slot + 16 * part);
    const gyre_u32 is_there =
        look->looks_at && part == 0 && (gyre_u32)(mine.y >> 32) == (gyre_u32)(look->in.next + 1);
    const gyre_u32 all = __ballot_sync(GYRE_ALL_LANES, is_there), others = all & ~look->last;
    if (!all)
        return;
    const gyre_u32 from = (gyre_u32)__ffs((int)(others ? others : all)) - 1;
    look->talks = __shfl_sync(GYRE_ALL_LANES, look->in.talk, (int)from);
    const gyre_u32 by_lines =
        look->talks && __shfl_sync(GYRE_ALL_LANES, (gyre_u32)(mine.x >> 63), (int)from + 1);
    const gyre_u32 number = __shfl_sync(GYRE_ALL_LANES, (gyre_u32)look->in.next + 1, (int)from);
    if (by_lines &&
        __shfl_sync(GYRE_ALL_LANES, (gyre_u32)(mine.y >> 32), (int)from + GYRE_ASK_CHUNKS) != number)
        return; /* the second line is on its way */
    if (!by_lines && look->looks_at)
        mine = gyre_near_chunk_load_(slot + 16 * part); /* it was there before the sequence was */
    look->mine = mine;
    look->from = from;
}

/* Whether the message that was seen may go the short way. Called by the first warp. */
template <class K>
GYRE_HELPER gyre_u32 gyre_talk_fits_(gyre_link_view_ *links, const gyre_talk_look_ &look, gyre_u64 origin)
{
    const gyre_u32 length = __shfl_sync(GYRE_ALL_LANES, (gyre_u32)look.mine.y, (int)look.from);
    const gyre_u32 said = __shfl_sync(GYRE_ALL_LANES, (gyre_u32)look.mine.x,
                                      (int)(look.from + (look.talks ? 1 + GYRE_ASK_CHUNKS : 1)));
    const gyre_u32 is_alone = !(origin & GYRE_ORIGIN_TAP) && origin & GYRE_ORIGIN_SOLE;
    if (!is_alone && threadIdx.x == 0)
        links->talk_rests = GYRE_TALK_LONG_WAY;
    return is_alone && gyre_talk_room_(links) &&
           !GYRE_LENGTH_WRONG_(length, K::gyre_its_request_least_, K::gyre_its_request_size_, said);
}

/* Puts the message that was seen where its handler finds it. Called by the first warp. */
template <class K>
GYRE_HELPER void gyre_talk_fetch_(gyre_link_view_ *links, gyre_chunk *cells, gyre_talk_look_ *look)
{
    typedef gyre_stage_<K> stage;
    const gyre_u32 lane = threadIdx.x, part = lane % GYRE_TALK_PARTS,
                   skips = look->talks ? GYRE_ASK_CHUNKS : 0;
    if (lane / GYRE_TALK_PARTS == look->from / GYRE_TALK_PARTS) {
        if (part == 0 || (part > skips && part - skips < stage::request_chunks))
            cells[part ? part - skips : 0] = look->mine;
        if (part > 0 && part <= GYRE_ASK_CHUNKS)
            links->asks[part - 1] = look->talks ? look->mine : gyre_chunk{0, 0};
        look->in.next++;
    }
#pragma unroll 1
    for (gyre_u32 chunk = lane; chunk < stage::reply_chunks; chunk += 32)
        cells[stage::request_chunks + chunk] = {0, 0};
}

/*
 * Looks at the block's links, and handles what is for the short way, until nothing came for a while or something is for the long way. What
 * need not be done before a message leaves is done afterwards, while others have it. Returns whether the block has a run to settle. Called
 * by the first warp.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_talk_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                const gyre_link_places_ &places, const void *buffers, gyre_context *gyre)
{
    const gyre_u32 lane = threadIdx.x;
    gyre_talk_look_ look = {};
    if (!gyre_talk_may_(links))
        return 0;
    if (gyre_talk_is_due_(links) && gyre_talk_glance_(arguments, links))
        return 0;
    const gyre_u32 most = links->enters ? GYRE_TALK_LOOKS_AFAR : GYRE_TALK_LOOKS;
    look.in = links->inlets[lane / GYRE_TALK_PARTS];
    look.last = links->talk_last;
    look.looks_at =
        lane / GYRE_TALK_PARTS < links->inlet_count && lane % GYRE_TALK_PARTS * 16 < look.in.stride;
#pragma unroll 1
    for (gyre_u32 looks = 0; looks < most; looks++) {
        gyre_u32 end = GYRE_TALK_ENDS_LONG;
        gyre_talk_look_at_(&look);
        if (look.from < 32) {
            const gyre_u64 origin = gyre_shuffle_(GYRE_ALL_LANES, look.mine.x, look.from);
            if (!gyre_talk_fits_<K>(links, look, origin))
                return 0;
            gyre_talk_fetch_<K>(links, places.cells, &look);
            look.last = (2u << look.from) - 1;
            if (lane == 0) {
                links->talk_last = look.last;
                gyre_talk_take_(arguments, links, look.from / GYRE_TALK_PARTS);
            }
            __syncwarp();
            if (lane == 0)
                end = gyre_talk_handle_<K>(links, places, links->talk_staged, arguments.state, buffers, gyre);
            end = __shfl_sync(GYRE_ALL_LANES, end, 0);
            __syncwarp();
            if (end != GYRE_TALK_ENDS_LONG)
                gyre_talk_send_(links, origin);
            if (lane == 0)
                gyre_talk_give_back_(links);
            if (lane == 0 && end == GYRE_TALK_ENDS_LONG)
                gyre_talk_note_long_(links);
            if (end == GYRE_TALK_ENDS_LONG)
                return 1;
            if (lane == 0) {
                gyre_turn_ends_(gyre_turn_(arguments, 0));
                links->view->handled++;
            }
            looks = 0;
        }
        if (looks % 8 == 0 && gyre_talk_is_due_(links) && gyre_talk_glance_(arguments, links))
            return 0;
    }
    return 0;
}

#endif
