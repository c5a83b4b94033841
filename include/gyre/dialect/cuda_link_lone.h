/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way of a stage: its first warp handles up to seven messages of a line each, straight from the source and in
 * registers, while it looks for the next ones. Included by cuda_links.h.
 *
 * It is for lane kernels whose messages fit lines, of which one call emits one message a port at most, in one block that
 * fetches from one ring, or from one queue that enters the pipeline, and sends to no topic. All else goes the long way, also what
 * a tap gets, and all of a pipeline with entries that need more than others (cuda_link_entry.h). As soon as eight messages are there, the block takes many at once (cuda_link_drain.h).
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LONE_H
#define GYRE_DIALECT_CUDA_LINK_LONE_H

/* what follows the short way */
enum gyre_link_next_ {
    GYRE_LONE_LONG_WAY = 0, /* it is not for this block now, or there is no room */
    GYRE_LONE_GLANCE,       /* nothing came for a while */
    GYRE_LONE_BACKLOG       /* of links->source: the block has to come */
};

#define GYRE_LONE_HEADS 0x11111111u /* the lanes that hold headers: the first one of each quad */
/* looks at a ring, or at a queue, until the long way looks for orders and at other queues */
#define GYRE_LONE_LOOKS      64
#define GYRE_LONE_LOOKS_AFAR 16

/* Whether the kernel's messages suit the short way. */
template <class K> GYRE_HELPER constexpr bool gyre_lone_suits_()
{
    bool suits = gyre_stage_<K>::lines && !GYRE_LIMITED; /* limits are looked at by the long way only */
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        suits = suits && K::gyre_its_ports_::of(i).most == 1 &&
                K::gyre_its_ports_::of(i).size <= GYRE_SLOT_SMALL_PAYLOAD;
    return suits;
}

/* Finds the one source that the block fetches from. Returns 0 if it has several, or none. Called by the first warp. */
GYRE_OUTLINE_ gyre_u32 gyre_lone_source_(const gyre_link_view_ *links, gyre_link_source_ *source)
{
    GYRE_IN_SHARED_(links);
    gyre_u32 entries = 0;
    const gyre_u32 queues = links->view->queue_count;
    if (!links->table || gridDim.x > 1 || links->branch_count || links->needs ||
        links->inlet_count + links->enters != 1)
        return 0;
    if (queues > 32) /* a glance sees no more (gyre_link_glance_) */
        return 0;
    if (!links->enters) {
        const gyre_link_in_ *in = &links->inlets[0];
        *source = {in->slots, in->next, in->mask, in->stride, 0, 0, 0};
        return in->stride <= GYRE_LINE_SIZE;
    }
#pragma unroll 1
    for (gyre_u32 i = 0; i < queues; i++)
        if (links->entry_of[i]) {
            const gyre_served *queue = &links->view->served[i];
            *source = {queue->requests,
                       queue->own.next,
                       (gyre_u32)queue->mask,
                       queue->request_stride,
                       links->entry_of[i],
                       i,
                       0};
            entries++;
        }
    return entries == 1 && links->view->team_size == 1;
}

/* Takes `count` messages, 1 at least; of a shared ring the block has claimed them. Called by lane 0. */
GYRE_HELPER void gyre_lone_take_(gyre_link_view_ *links, const gyre_link_source_ &source, gyre_u32 count)
{
    if (source.entry) {
        links->view->served[source.which].own.next = source.next + count;
        gyre_lap_note_(&links->entries[source.entry - 1], source.next, count, source.mask);
        return;
    }
    gyre_link_in_ *in = &links->inlets[source.which];
    in->next = source.next + count;
    if (!source.shared)
        gyre_near_store_(&in->ring->claimed, source.next + count);
    const gyre_u32 shift = gyre_link_shift_(source.mask);
    const gyre_u32 first = ((gyre_u32)source.next & source.mask) >> shift;
    const gyre_u32 left = (1u << shift) - ((gyre_u32)source.next & ((1u << shift) - 1));
    if (count <= left) {
        gyre_near_add_(&in->fetched[first], count);
        return;
    }
    gyre_link_give_back_(links, {source.next, source.mask, 0, 0, in->ring, 0, count, 0, source.which, 0, 0});
}

/* For how many messages each ring has room, as far as is known; for many where no port leads to a ring. */
template <class K> GYRE_HELPER gyre_u32 gyre_lone_room_(const gyre_link_view_ *links)
{
    gyre_u32 room = 0xffffffffu;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u32 left = out->mask + 1 - (gyre_u32)(out->head - out->tail);
        room = out->use == GYRE_PORT_LINKED && left < room ? left : room;
    }
    return room;
}

/*
 * In gyre_link_message_.to behind gyre_lone_handle_: no address, but the message counts as one of several of its flow, and sent as many as the
 * lower half says. No address has bit 63.
 */
#define GYRE_LONE_OWES_ ((gyre_u64)1 << 63)

/* What a lane emitted in a window, with room for a header, one message for each port. */
template <class K> struct gyre_lone_given_ {
    gyre_chunk lines[gyre_link_shape_<K>::ports + 1][4];
};

/* As gyre_line_fail_, whose text would stand in the way of messages that do not fail. */
GYRE_OUTLINE_ void gyre_lone_fail_(gyre_chunk *line, gyre_i32 code, const char *text)
{
    gyre_line_fail_(line, 0, code, text);
}

/* Notes the outcome of a message in its flow, which counts its messages, or does from now on. `line`: a copy of it in memory. */
GYRE_OUTLINE_ void gyre_lone_count_(const gyre_link_view_ *links, gyre_u64 origin, gyre_chunk *line,
                                    gyre_u32 sent)
{
    if (origin & GYRE_ORIGIN_SOLE)
        gyre_flow_begins_(links, origin, (gyre_slot *)line, sent);
    else
        gyre_note_outcome_(links, origin, (gyre_slot *)line);
}

#if !GYRE_LIMITED
/*
 * Accounts for the messages that the lanes of the first warp handled, before what they emitted is published. `line`: this lane's
 * completion. Called by the first warp.
 */
GYRE_OUTLINE_ gyre_u64 gyre_lone_account_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u32 owes,
                                          gyre_u32 sent, gyre_chunk *line)
{
    GYRE_IN_SHARED_(links);
    gyre_link_message_ message = {origin, 0, 0, 0, 0, owes, sent};
    gyre_account_run_(links, &message, (gyre_slot *)line, 32);
    return message.to;
}
#endif

/* The origin of the message in `line`; `index`: of a request. */
GYRE_HELPER gyre_u64 gyre_lone_origin_(const gyre_link_source_ &source, const gyre_chunk *line,
                                       gyre_u64 index)
{
    return source.entry ? gyre_origin_begins_(source.entry - 1, index, source.mask) : line[0].x;
}

/* Whether messages of K are likely to end their flows. */
template <class K> GYRE_HELPER constexpr bool gyre_lone_ends_()
{
    return K::gyre_its_reply_size_ > 0 || K::gyre_its_port_count_ == 0;
}

/* The lap of an entry: asked for by each message, or (`kept`) once a window. */
GYRE_HELPER gyre_u64 gyre_lone_lap_(const gyre_link_entry_ *entry, bool kept)
{
    return kept ? entry->lap : gyre_near_load_(&gyre_entry_head_(entry)->lap);
}

/*
 * Handles the message in `line`, which becomes its completion. Fills in the other members of `message`. Returns 1 when it
 * failed. `kept`: the block has read the laps of entries, if its messages are likely to end flows. Called by one lane.
 */
template <class K, bool kept>
GYRE_HELPER gyre_u32 gyre_lone_handle_(const gyre_cuda_arguments &arguments, const gyre_link_view_ *links,
                                       const gyre_link_source_ &source, gyre_chunk *line,
                                       gyre_cuda_port *ports, gyre_link_message_ *message,
                                       const void *buffers, gyre_context *gyre)
{
    const gyre_u32 length = (gyre_u32)line[0].y, said = (gyre_u32)line[1].x;
    const gyre_link_entry_ *entry = gyre_entry_of_(links, message->origin);
    gyre_u64 lap = 0;
    if (gyre_lone_ends_<K>() && !source.entry) /* under way while the handler runs */
        lap = gyre_lone_lap_(entry, kept);
    gyre->failed = 0;
    gyre->origin = message->origin;
    gyre->index = message->index;
    gyre->entry = source.entry ? 0 : entry;
    gyre->clears = 0; /* ports lead to places that are zero */
#if GYRE_HEADED
    GYRE_HEADER_QUEUE_(gyre, entry->headers, entry->header_size, ~(gyre_u64)0);
    GYRE_HEADER_FOREIGN_(gyre, 0);
    GYRE_HEADER_TAKE_(gyre, GYRE_ORIGIN_PLACE(message->origin));
#endif
    int result = GYRE_FAILED;
    if (GYRE_LENGTH_WRONG_(length, K::gyre_its_request_least_, K::gyre_its_request_size_, said)) {
        gyre_fail_(gyre, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
    } else {
        GYRE_STAMP_BEGIN_(gyre, message->index, started);
        result = K::gyre_its_handle_chunks_(line + 1, arguments.state, buffers, gyre);
        GYRE_TIMES_END_(gyre, started); /* such queues have no stamps: gyre_lone_source_ */
    }
    const gyre_u32 replied = result == GYRE_OUTCOME_REPLY && K::gyre_its_reply_size_ > 0 && !gyre->failed;
    gyre_u32 sent = 0;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        if (ports[i].emitted && links->outs[i].use == GYRE_PORT_UNWIRED && !gyre->failed)
            gyre_fail_(gyre, GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
        sent += links->outs[i].use == GYRE_PORT_LINKED ? ports[i].emitted : 0;
    }
    if (replied && !links->answers)
        gyre_fail_(gyre, GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    sent = gyre->failed ? 0 : sent;
    message->next = gyre->failed ? 0 : GYRE_ORIGIN_NEXT(message->origin);
    const gyre_u32 used = (gyre_u32)line[1].x;
    if (gyre->failed) {
        gyre_chunk copy[GYRE_LINE_CHUNKS];
        gyre_lone_fail_(copy, gyre->fail_code, gyre->fail_text);
#pragma unroll
        for (int i = 0; i < GYRE_LINE_CHUNKS; i++)
            line[i] = copy[i];
    } else if (replied)
        gyre_line_head_(line, 0, GYRE_REPLY_LENGTH_(K::gyre_its_reply_least_, K::gyre_its_reply_size_, used),
                        GYRE_OUTCOME_REPLY);
    else
        gyre_line_head_(line, 0, 0, GYRE_OUTCOME_NO_REPLY);
    const gyre_u32 sole = (message->origin & GYRE_ORIGIN_SOLE) != 0;
    if (sole && !sent) {
        message->to = gyre_reply_of_(links, message->origin);
    } else if (sole && sent == 1 && !replied) {
        message->next |= GYRE_ORIGIN_SOLE;
    } else {
        if (sole || gyre->failed || replied) {
            gyre_chunk copy[4] = {line[0], line[1], line[2], line[3]};
            gyre_lone_count_(links, message->origin, copy, sent);
        }
    }
    if (message->to) {
        if (!gyre_lone_ends_<K>() && !source.entry)
            lap = gyre_lone_lap_(entry, false);
        line[0].x = (source.entry ? message->index : gyre_index_near_(entry, message->origin, lap)) + 1;
    }
    message->counted =
        sent && ((source.entry && gyre_entry_writes_(links)) || !(message->next & GYRE_ORIGIN_SOLE));
    if (!sole)
        message->to = GYRE_LONE_OWES_ | sent;
    return gyre->failed;
}

/* Returns chunk `part` of the line that lane `number` has. */
GYRE_HELPER gyre_chunk gyre_lone_part_(const gyre_chunk *line, gyre_u32 part, gyre_u32 number)
{
    gyre_chunk mine = {0, 0};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const gyre_chunk other = gyre_chunk_shuffle_(line[i], number);
        if (part == (gyre_u32)i)
            mine = other;
    }
    return mine;
}

/*
 * Where lanes 0 to 7 of the first warp emit to, in shared memory: for each port a line of each lane. A quad of lanes stores a line from
 * there; what lies in a lane's own memory would have to go from lane to lane.
 */
template <class K> GYRE_HELPER gyre_chunk *gyre_lone_lines_()
{
    if constexpr (gyre_link_shape_<K>::ports > 0) {
        __shared__ gyre_chunk lines[gyre_link_shape_<K>::ports * 32];
        return lines;
    }
    return 0;
}

/* Zeroes the places that the lanes emit to. Called by the first warp before it looks for messages. */
template <class K> GYRE_HELPER void gyre_lone_clear_()
{
    gyre_chunk *const lines = gyre_lone_lines_<K>();
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        lines[32 * i + (threadIdx.x & 31)] = {0, 0};
    __syncwarp();
}

/* Publishes what the lanes emitted to one port, which emits messages of `type`. `lines`: of the port. */
GYRE_HELPER void gyre_lone_publish_(gyre_link_out_ *out, const gyre_cuda_port_type &type, gyre_chunk *lines,
                                    gyre_u32 emitted, gyre_u64 origin)
{
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    /* read at once, not one word behind the other: a message waits for them */
    const gyre_u64 head = out->head;
    const gyre_u32 use = out->use, mask = out->mask, stride = out->stride;
    gyre_u8 *const slots = out->slots;
    const gyre_u32 givers = __ballot_sync(GYRE_ALL_LANES, emitted);
    if (!givers)
        return;
    if (emitted) {
        gyre_chunk *const line = lines + GYRE_LINE_CHUNKS * lane;
        const gyre_u32 said = (gyre_u32)line[1].x;
        line[0] = {origin, (head + (gyre_u32)__popc(givers & ((1u << lane) - 1)) + 1) << 32 |
                               GYRE_REPLY_LENGTH_(type.least, type.size, said)};
    }
    __syncwarp(); /* and all lanes have read the head */
    const gyre_u32 at = (gyre_u32)head + (gyre_u32)__popc(givers & ((1u << number) - 1));
    if (use == GYRE_PORT_LINKED && givers >> number & 1 && part * 16 < stride)
        gyre_near_chunk_store_(slots + (gyre_u64)(at & mask) * stride + 16 * part, lines[lane]);
    if (lane == 0)
        gyre_link_advance_(out, head + (gyre_u32)__popc(givers));
}

/* Handles `count` messages that lie in the lanes' chunks: lane 4 k + part has that part of message k. */
template <class K>
GYRE_HELPER void gyre_lone_run_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                const gyre_link_source_ &source, gyre_chunk mine, gyre_u32 count,
                                const void *buffers, gyre_context *gyre)
{
    enum { port_count = gyre_link_shape_<K>::ports };
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    gyre_chunk line[4];
    gyre_chunk *const lines = gyre_lone_lines_<K>();
    gyre_cuda_port ports[port_count + 1];
    gyre_link_message_ message = {0, source.next + lane, 0, 0, 0};
    gyre_u32 failed = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        line[i] = gyre_chunk_shuffle_(mine, (lane * 4 + i) & 31);
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        ports[i] = {(gyre_u8 *)(lines + 32 * i + GYRE_LINE_CHUNKS * (lane & 7)), 0, 0, GYRE_LINE_SIZE, 1, 0};
    gyre->ports = ports;
    if (lane < count) {
        message.origin = gyre_lone_origin_(source, line, message.index);
        failed = gyre_lone_handle_<K, false>(arguments, links, source, line, ports, &message, buffers, gyre);
    }
    /* one vote for messages that only go on, which others wait for */
    const gyre_u32 settles = (gyre_u32)__any_sync(GYRE_ALL_LANES, message.to != 0 || message.counted);
    const gyre_u32 ends = settles && __any_sync(GYRE_ALL_LANES, message.to != 0);
#if !GYRE_LIMITED
    if (ends && __any_sync(GYRE_ALL_LANES, message.to >= GYRE_LONE_OWES_)) {
        const gyre_u32 owes = message.to >= GYRE_LONE_OWES_;
        gyre_chunk copy[4] = {line[0], line[1], line[2], line[3]};
        const gyre_u64 to =
            gyre_lone_account_(links, message.origin, owes, owes ? (gyre_u32)message.to : 0, copy);
#pragma unroll
        for (int i = 0; i < 4; i++)
            line[i] = to ? copy[i] : line[i];
        message.to = owes ? to : message.to;
    }
#endif
    if (settles && __any_sync(GYRE_ALL_LANES, message.counted)) /* also of a lane that accounted for others */
        gyre_link_fence_(links->far); /* accounts are there before what was emitted is published */
    __syncwarp();
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        gyre_lone_publish_(&links->outs[i], K::gyre_its_ports_::of(i), lines + 32 * i,
                           message.next ? ports[i].emitted : 0, message.next);
    if (ends) {
        const gyre_u64 to = gyre_shuffle_(GYRE_ALL_LANES, message.to, number);
        mine = gyre_lone_part_(line, part, number);
        gyre_settle_(to != 0);
        if (to && (part == 0 || !(to & 1)))
            gyre_chunk_store_((gyre_chunk *)(to & ~(gyre_u64)1) + part, mine);
    }
    failed = (gyre_u32)__popc(__ballot_sync(GYRE_ALL_LANES, failed));
    if (lane == 0) {
        links->view->handled += count;
        links->view->failed += failed;
    }
}

/*
 * Looks at the block's one source, and handles what comes, for a while. Returns what follows. Called by the first warp.
 *
 * A message waits for what stands between the load that finds it and the store of what it caused. So what can be known before is read
 * while the load is under way, and what nobody waits for comes behind the store: the message lies in registers, so its place may be given
 * back then, and an entry's lap may be raised late (cuda_link_lap.h).
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_lone_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                     const void *buffers, gyre_context *gyre)
{
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    gyre_link_source_ found;
    const gyre_u32 tight = links->tight;
    __syncwarp();
    if (lane == 0)
        links->tight = 0;
    if (tight || links->aside || !gyre_lone_source_(links, &found))
        return GYRE_LONE_LONG_WAY;
    gyre_link_source_ source = found; /* in registers: the address of the other one is known elsewhere */
    if (source.entry && source.next < links->view->served[source.which].dropping)
        return GYRE_LONE_LONG_WAY;
    const gyre_u32 most = source.entry ? GYRE_LONE_LOOKS_AFAR : GYRE_LONE_LOOKS;
    GYRE_QUEUE_BEGIN_(gyre, &links->nowhere);
    gyre_lone_clear_<K>();
#pragma unroll 1
    for (gyre_u32 looks = 0; looks < most; looks++) {
        gyre_chunk mine = {0, 0};
        if (part * 16 < source.stride)
            mine = gyre_chunk_load_(
                source.slots + (((gyre_u32)source.next + number) & source.mask) * source.stride + part * 16);
        const gyre_u32 room = gyre_lone_room_<K>(links), drains = links->drains;
        const gyre_u64 index = source.next + number + 1;
        const gyre_u32 is_there =
            part == 0 && (source.entry ? mine.x == index : (gyre_u32)(mine.y >> 32) == (gyre_u32)index);
        const gyre_u32 tapped = is_there && !source.entry && mine.x & GYRE_ORIGIN_TAP;
        const gyre_u32 there = __ballot_sync(GYRE_ALL_LANES, is_there && !tapped); /* up to one of a tap */
        if (!(there & 1)) {
            if (__any_sync(GYRE_ALL_LANES, tapped))
                return GYRE_LONE_LONG_WAY;
            gyre_rest_(arguments.pause_ns);
            continue;
        }
        if (there == GYRE_LONE_HEADS) {
            if (lane == 0 && drains)
                gyre_link_drains_(links, source);
            return drains ? GYRE_LONE_BACKLOG : GYRE_LONE_LONG_WAY;
        }
        const gyre_u32 count = (gyre_u32)(__ffs((int)~(there | ~GYRE_LONE_HEADS)) - 1) >> 2;
        if (room < count)
            return GYRE_LONE_LONG_WAY;
        if (lane == 0)
            gyre_turn_begins_(gyre_turn_(arguments, 0));
        gyre_lone_run_<K>(arguments, links, source, mine, count, buffers, gyre);
        if (lane == 0) {
            gyre_lone_take_(links, source, count);
            gyre_turn_ends_(gyre_turn_(arguments, 0));
        }
        source.next += count;
        gyre_lone_clear_<K>();
    }
    return GYRE_LONE_GLANCE;
}

#endif
