/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way of a stage: its first warp handles up to seven messages of a line each, straight from the source, while it looks
 * for the next ones. Included by cuda_links.h.
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

#define GYRE_DRAIN_LEAST 8 /* messages found together that are a backlog */

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

/* Takes `count` messages; of a shared ring the block has claimed them. Called by lane 0. */
GYRE_HELPER void gyre_lone_take_(gyre_link_view_ *links, const gyre_link_source_ &source, gyre_u32 count)
{
    if (source.entry) {
        links->view->served[source.which].own.next = source.next + count;
        gyre_lap_note_(links, source.entry, source.next + count);
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
        gyre_near_add_(&in->ring->fetched[first], count);
        return;
    }
    gyre_link_give_back_(links, {source.next, source.mask, 0, 0, in->ring, 0, count, 0, 0, 0, 0});
}

/* How many of a few messages have room in each ring, as far as is known. */
template <class K> GYRE_HELPER gyre_u32 gyre_lone_room_(const gyre_link_view_ *links)
{
    gyre_u32 room = GYRE_DRAIN_LEAST;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u32 left = out->mask + 1 - (gyre_u32)(out->head - out->tail);
        if (out->use == GYRE_PORT_LINKED && left < room)
            room = left;
    }
    return room;
}

/* The origin of the message in `line`; `index`: of a request. */
GYRE_HELPER gyre_u64 gyre_lone_origin_(const gyre_link_source_ &source, const gyre_chunk *line,
                                       gyre_u64 index)
{
    return source.entry ? gyre_lap_origin_(source.entry - 1, index, source.mask) : line[0].x;
}

/** What a handler did with a message that is more than passed on or answered, and what becomes of it. */
struct gyre_lone_odd_ {
    gyre_chunk line[4]; /* the message, or its reply; then its completion */
    gyre_link_message_ message;
    const char *text; /* of its failure */
    gyre_u32 sent, replied, failed, length;
    gyre_i32 code;
};

/* Writes what the handler did into the line, as a completion. */
GYRE_HELPER void gyre_lone_note_(const gyre_link_view_ *links, gyre_lone_odd_ *odd)
{
    if (odd->replied && !odd->failed && !links->answers) {
        odd->failed = 1;
        odd->code = GYRE_FAILURE_ANSWER;
        odd->text = "replied, and is no answer of its pipeline";
    }
    if (odd->failed) {
        odd->sent = 0;
        gyre_line_fail_(odd->line, 0, odd->code, odd->text);
    } else if (odd->replied) {
        gyre_line_head_(odd->line, 0, odd->length, GYRE_OUTCOME_REPLY);
    } else {
        gyre_line_head_(odd->line, 0, 0, GYRE_OUTCOME_NO_REPLY);
    }
}

/* Settles a message that failed, or whose flow has several, or has them from now on. It is far from the way of other messages. */
GYRE_OUTLINE_ void gyre_lone_settle_odd_(const gyre_link_view_ *links, gyre_lone_odd_ *odd)
{
    GYRE_IN_SHARED_(links);
    gyre_link_message_ *message = &odd->message;
    gyre_slot *out = (gyre_slot *)odd->line;
    gyre_lone_note_(links, odd);
    message->next = odd->failed ? 0 : GYRE_ORIGIN_NEXT(message->origin);
    if (!(message->origin & GYRE_ORIGIN_SOLE))
        message->to = gyre_settle_counted_(links, message->origin, out, odd->sent);
    else if (!odd->sent)
        message->to = gyre_reply_of_(links, message->origin);
    else if (odd->sent == 1 && !odd->replied)
        message->next |= GYRE_ORIGIN_SOLE;
    else
        gyre_flow_begins_(links, message->origin, out, odd->sent);
    message->counted = odd->sent && !(message->next & GYRE_ORIGIN_SOLE);
}

/* As gyre_lone_settle_odd_, with what the lane has in registers. */
template <class K>
GYRE_HELPER void gyre_lone_settle_all_(const gyre_link_view_ *links, gyre_chunk *line,
                                       gyre_link_message_ *message, gyre_u32 sent, gyre_u32 replied,
                                       gyre_context *gyre)
{
    const gyre_u32 used = (gyre_u32)line[1].x;
    gyre_lone_odd_ odd = {{line[0], line[1], line[2], line[3]},
                          *message,
                          gyre->fail_text,
                          sent,
                          replied,
                          (gyre_u32)gyre->failed,
                          GYRE_REPLY_LENGTH_(K::gyre_its_reply_least_, K::gyre_its_reply_size_, used),
                          gyre->fail_code};
    gyre_lone_settle_odd_(links, &odd);
    *message = odd.message;
    gyre->failed = (int)odd.failed;
#pragma unroll
    for (int i = 0; i < 4; i++)
        line[i] = odd.line[i];
}

/* Calls the handler of the message in `line`. Returns whether it replied. */
template <class K>
GYRE_HELPER gyre_u32 gyre_lone_call_(const gyre_cuda_arguments &arguments, const gyre_link_view_ *links,
                                     const gyre_link_source_ &source, gyre_chunk *line,
                                     const gyre_link_message_ *message, const void *buffers,
                                     gyre_context *gyre)
{
    const gyre_u32 length = (gyre_u32)line[0].y, said = (gyre_u32)line[1].x;
    gyre->failed = 0;
    gyre->origin = message->origin;
    gyre->index = message->index;
    gyre->flow = source.entry ? 0 : links->entries;
    gyre->clears = 0; /* ports lead to places that are zero */
#if GYRE_HEADED
    const gyre_link_entry_ *entry = gyre_entry_of_(links, message->origin);
    GYRE_HEADER_QUEUE_(gyre, entry->headers, entry->header_size, ~(gyre_u64)0);
    GYRE_HEADER_FOREIGN_(gyre, 0);
    GYRE_HEADER_TAKE_(gyre, GYRE_ORIGIN_PLACE(message->origin));
#endif
    if (GYRE_LENGTH_WRONG_(length, K::gyre_its_request_least_, K::gyre_its_request_size_, said)) {
        gyre_fail_(gyre, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        return 0;
    }
    GYRE_STAMP_BEGIN_(gyre, message->index, started);
    const int result = K::gyre_its_handle_chunks_(line + 1, arguments.state, buffers, gyre);
    GYRE_TIMES_END_(gyre, started); /* such queues have no stamps: gyre_lone_source_ */
    return result == GYRE_OUTCOME_REPLY && K::gyre_its_reply_size_ > 0 && !gyre->failed;
}

/*
 * Handles the message in `line`, which becomes its completion. Fills in the other members of `message`. Returns 1 when it
 * failed. `looked`: the block's entries have `begun`. Called by one lane.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_lone_handle_(const gyre_cuda_arguments &arguments, const gyre_link_view_ *links,
                                       const gyre_link_source_ &source, gyre_chunk *line,
                                       gyre_cuda_port *ports, gyre_link_message_ *message, gyre_u32 looked,
                                       const void *buffers, gyre_context *gyre)
{
    const gyre_u32 replied = gyre_lone_call_<K>(arguments, links, source, line, message, buffers, gyre);
    gyre_u32 sent = 0;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        if (ports[i].emitted && links->outs[i].use == GYRE_PORT_UNWIRED && !gyre->failed)
            gyre_fail_(gyre, GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
        sent += links->outs[i].use == GYRE_PORT_LINKED ? ports[i].emitted : 0;
    }
    if (gyre->failed || !(message->origin & GYRE_ORIGIN_SOLE) || sent > 1 ||
        (replied && (sent || !links->answers))) {
        gyre_lone_settle_all_<K>(links, line, message, sent, replied, gyre);
    } else if (sent) {
        message->next = GYRE_ORIGIN_NEXT(message->origin) | GYRE_ORIGIN_SOLE;
    } else {
        const gyre_u32 used = (gyre_u32)line[1].x;
        message->next = GYRE_ORIGIN_NEXT(message->origin);
        message->to = gyre_reply_of_(links, message->origin);
        gyre_line_head_(line, 0,
                        replied ? GYRE_REPLY_LENGTH_(K::gyre_its_reply_least_, K::gyre_its_reply_size_, used)
                                : 0,
                        replied ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_NO_REPLY);
    }
    if (message->to) {
        const gyre_link_entry_ *entry = gyre_entry_of_(links, message->origin);
        const gyre_u64 begun = source.entry ? message->index : looked ? entry->begun : gyre_lap_begun_(entry);
        line[0].x = gyre_lap_index_(entry, message->origin, begun) + 1;
    }
    if (sent && source.entry)
        message->counted |= gyre_lap_waits_<K>(links);
    return gyre->failed;
}

/*
 * Where the messages of a run lie in shared memory: chunk 4 k + part is that part of message k. The lanes that move messages have a
 * chunk each, and the lane that handles message k all four.
 */
template <class K> struct gyre_lone_places_ {
    gyre_chunk lines[32];
    gyre_chunk given[gyre_link_shape_<K>::ports + 1]
                    [32]; /* what was emitted to each port; the last one is not used */
};

/* Zeroes the places to emit to. Called before a run comes. */
template <class K> GYRE_HELPER void gyre_lone_clear_(gyre_lone_places_<K> *places)
{
    const gyre_chunk zero = {0, 0};
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        places->given[i][threadIdx.x & 31] = zero;
}

/* Publishes what the lanes emitted to one port. Each lane that gave a message puts the header on it. */
GYRE_HELPER void gyre_lone_publish_(gyre_link_out_ *out, gyre_chunk *given, gyre_u32 emitted, gyre_u64 origin)
{
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    const gyre_u32 givers = __ballot_sync(GYRE_ALL_LANES, emitted);
    if (!givers)
        return;
    const gyre_u64 head = out->head;
    if (emitted) {
        const gyre_u32 said = (gyre_u32)given[4 * lane + 1].x;
        given[4 * lane] = {origin, (head + (gyre_u32)__popc(givers & ((1u << lane) - 1)) + 1) << 32 |
                                       GYRE_REPLY_LENGTH_(out->type.least, out->type.size, said)};
    }
    __syncwarp();
    const gyre_u64 at = head + (gyre_u32)__popc(givers & ((1u << number) - 1));
    if (out->use == GYRE_PORT_LINKED && givers >> number & 1 && part * 16 < out->stride)
        gyre_near_chunk_store_(gyre_link_slot_(out, at) + 16 * part, given[lane]);
    __syncwarp(); /* all lanes have read the head */
    if (lane == 0)
        gyre_link_advance_(out, head + (gyre_u32)__popc(givers));
}

/* Stores the completions of the lanes whose flows end. `line`: of this lane. */
GYRE_HELPER void gyre_lone_complete_(gyre_chunk *lines, const gyre_chunk *line, gyre_u64 to)
{
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    if (!__any_sync(GYRE_ALL_LANES, to != 0))
        return;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (to)
            lines[4 * lane + (gyre_u32)i] = line[i];
    const gyre_u64 its = gyre_shuffle_(GYRE_ALL_LANES, to, number);
    __syncwarp();
    gyre_settle_(its != 0);
    if (its && (part == 0 || !(its & 1)))
        gyre_chunk_store_((gyre_chunk *)(its & ~(gyre_u64)1) + part, lines[lane]);
}

/* Whether each look at the source looks at the word of the one entry, too (cuda_link_laps.h): most flows end at kernels without ports. */
template <class K> GYRE_HELPER gyre_u32 gyre_lone_looks_(const gyre_link_view_ *links)
{
    return gyre_link_shape_<K>::ports == 0 && links->entry_count == 1 && links->entries[0].flows;
}

/* Handles `count` messages that lie in the lanes' chunks: lane 4 k + part has that part of message k. */
template <class K>
GYRE_HELPER void gyre_lone_run_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                const gyre_link_source_ &source, gyre_lone_places_<K> *places,
                                gyre_chunk mine, gyre_u32 count, const void *buffers, gyre_context *gyre)
{
    enum { port_count = gyre_link_shape_<K>::ports };
    const gyre_u32 lane = threadIdx.x & 31;
    gyre_chunk line[4] = {};
    gyre_cuda_port ports[port_count + 1];
    gyre_link_message_ message = {0, source.next + lane, 0, 0, 0};
    gyre_u32 failed = 0;
    places->lines[lane] = mine;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        ports[i] = {(gyre_u8 *)&places->given[i][4 * (lane & 7)], 0, 0, GYRE_LINE_SIZE, 1, 0};
    gyre->ports = ports;
    if (lane < count) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            line[i] = places->lines[4 * lane + (gyre_u32)i];
        message.origin = gyre_lone_origin_(source, line, message.index);
        failed = gyre_lone_handle_<K>(arguments, links, source, line, ports, &message,
                                      gyre_lone_looks_<K>(links), buffers, gyre);
    }
    if (message.counted)
        __threadfence(); /* accounts are there before what was emitted is published */
    __syncwarp();
#pragma unroll
    for (int i = 0; i < (int)port_count; i++)
        gyre_lone_publish_(&links->outs[i], places->given[i], message.next ? ports[i].emitted : 0,
                           message.next);
    gyre_lone_complete_(places->lines, line, message.to);
    failed = (gyre_u32)__popc(__ballot_sync(GYRE_ALL_LANES, failed));
    if (lane == 0) {
        links->view->handled += count;
        links->view->failed += failed;
    }
}

/*
 * Looks at the block's one source, and handles what comes, for a while. Returns what follows. Called by the first warp.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_lone_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                     const void *buffers, gyre_context *gyre)
{
    const gyre_u32 lane = threadIdx.x & 31, part = lane & 3, number = lane >> 2;
    __shared__ gyre_lone_places_<K> places;
    gyre_link_source_ source;
    const gyre_u32 tight = links->tight;
    __syncwarp();
    if (lane == 0)
        links->tight = 0;
    if (tight || links->aside || !gyre_lone_source_(links, &source))
        return GYRE_LONE_LONG_WAY;
    if (source.entry && source.next < links->view->served[source.which].dropping)
        return GYRE_LONE_LONG_WAY;
    const gyre_u32 most = source.entry ? GYRE_LONE_LOOKS_AFAR : GYRE_LONE_LOOKS;
    GYRE_QUEUE_BEGIN_(gyre, &links->nowhere);
    gyre_lone_clear_<K>(&places);
#pragma unroll 1
    for (gyre_u32 looks = 0; looks < most; looks++) {
        gyre_chunk mine = {0, 0};
        if (part * 16 < source.stride)
            mine = gyre_chunk_load_(
                source.slots + (((gyre_u32)source.next + number) & source.mask) * source.stride + part * 16);
        gyre_u64 begun = 0;
        if (gyre_lone_looks_<K>(links))
            begun = gyre_lap_begun_(&links->entries[0]);
        const gyre_u32 room = gyre_lone_room_<K>(links); /* while the load is under way */
        const gyre_u64 index = source.next + number + 1;
        const gyre_u32 is_there =
            part == 0 && (source.entry ? mine.x == index : (gyre_u32)(mine.y >> 32) == (gyre_u32)index);
        const gyre_u32 there = __ballot_sync(GYRE_ALL_LANES, is_there);
        const gyre_u32 tapped = is_there && !source.entry && mine.x & GYRE_ORIGIN_TAP;
        if (!(there & 1)) {
            gyre_rest_(arguments.pause_ns);
            continue;
        }
        if (__any_sync(GYRE_ALL_LANES, tapped) || (there == GYRE_LONE_HEADS && !links->drains))
            return GYRE_LONE_LONG_WAY;
        if (there == GYRE_LONE_HEADS) {
            if (lane == 0)
                gyre_link_drains_(links, source);
            return GYRE_LONE_BACKLOG;
        }
        const gyre_u32 count = (gyre_u32)(__ffs((int)~(there | ~GYRE_LONE_HEADS)) - 1) >> 2;
        if (room < count)
            return GYRE_LONE_LONG_WAY;
        if (lane == 0) {
            links->entries[0].begun = begun;
            gyre_turn_begins_(gyre_turn_(arguments, 0));
        }
        gyre_lone_run_<K>(arguments, links, source, &places, mine, count, buffers, gyre);
        if (lane == 0) { /* behind what the next kernel, or the client, waits for */
            gyre_lone_take_(links, source, count);
            gyre_turn_ends_(gyre_turn_(arguments, 0));
        }
        gyre_lone_clear_<K>(&places);
        source.next += count;
    }
    return GYRE_LONE_GLANCE;
}

#endif
