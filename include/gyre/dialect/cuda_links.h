/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a kernel that can be a stage of a pipeline: fetches messages from links and from queues, gives the handler places
 * to emit to, publishes what was emitted, and counts flows (link_layout.h has the protocol). Included by cuda_resident.h in
 * files that are compiled with GYRE_STAGE = 1; other kernels hold no trace of it.
 *
 * A block takes a run of messages at a time. Its first warp looks for one (cuda_link_find.h). The run is copied into cells,
 * and the places in the ring are given back at once. Lane kernels handle one message a thread: a run of up to 32 messages
 * takes the first warp alone, a longer one the block. They emit into a part of the stage, because only behind the handlers
 * it is known how much each emitted. Block kernels and actors handle a run in turn, and emit straight into the rings.
 * In both cases the messages of a ring are in the order of the messages that caused them.
 *
 * Links lie in the device's own memory, where other blocks write. Their words are read past the first cache (the functions
 * gyre_near_...). A message that fits one line is written by one instruction of a warp, which other blocks see whole, so it
 * needs no fence; a fence orders the payload of a larger one before its sequence.
 */
#ifndef GYRE_DIALECT_CUDA_LINKS_H
#define GYRE_DIALECT_CUDA_LINKS_H

#include "gyre/dialect/cuda_link_find.h"

#include "gyre/dialect/cuda_link_asked.h"
#include "gyre/dialect/cuda_link_choice.h"

/* ---- fetching ---- */

/* Whether a slot whose first chunk is `head` has message `index` of the run. */
GYRE_HELPER gyre_u32 gyre_link_is_there_(const gyre_link_run_ &run, gyre_chunk head, gyre_u64 index)
{
    return run.from == GYRE_RUN_LINK ? (gyre_u32)(head.y >> 32) == (gyre_u32)(index + 1)
                                     : head.x == index + 1;
}

/*
 * Copies the run into the cells, and zeroes the replies. Of a hoped run links->found becomes the number of messages that were
 * there, one after the other. Called by `threads` threads.
 */
template <class K>
GYRE_HELPER void gyre_link_fetch_(gyre_link_view_ *links, gyre_chunk *cells, gyre_u32 threads)
{
    typedef gyre_stage_<K> stage;
    const gyre_link_run_ run = links->run; /* in registers: the loads below let nothing stay known */
    /* neighbouring lanes of one warp have the chunks of a message that lies in a line */
    const gyre_u32 each = stage::request_chunks, pitch = each == 3 ? 4 : each, all = run.count * pitch;
    const gyre_u32 skips = GYRE_LINK_SKIPS_(links, run);
    const gyre_chunk zero = {0, 0};
    GYRE_LINK_FETCH_CHOICE_(links, run);
    GYRE_LINK_FETCH_ASKS_(links, run);
#pragma unroll 1
    for (gyre_u32 base = threadIdx.x; base < all; base += GYRE_LINK_LOADS * threads) {
        gyre_chunk mine[GYRE_LINK_LOADS];
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_LINK_LOADS; j++) {
            const gyre_u32 chunk = base + j * threads, part = chunk % pitch;
            const gyre_u8 *from =
                run.slots +
                (gyre_link_index_(links, run, chunk < all ? chunk / pitch : 0) & run.mask) * run.stride +
                part * 16 + (part ? skips : 0);
            mine[j] = zero;
            if (chunk < all && part < each && part * 16 + skips < run.stride)
                mine[j] =
                    run.from == GYRE_RUN_LINK ? GYRE_LINK_FRONTED_(run, part, from) : gyre_chunk_load_(from);
        }
#pragma unroll
        for (gyre_u32 j = 0; j < GYRE_LINK_LOADS; j++) {
            const gyre_u32 chunk = base + j * threads, part = chunk % pitch;
            if (chunk < all && part < each)
                cells[chunk / pitch * stage::cell + part] = mine[j];
            if (run.hoped && chunk < all && part == 0 &&
                !gyre_link_is_there_(run, mine[j], run.first + chunk / pitch))
                atomicMin(&links->found, chunk / pitch);
        }
    }
    GYRE_LINK_STORE_ASKS_(links, run, threads);
#pragma unroll 1
    for (gyre_u32 chunk = threadIdx.x; chunk < run.count * stage::reply_chunks; chunk += threads)
        cells[chunk / stage::reply_chunks * stage::cell + each + chunk % stage::reply_chunks] = zero;
}

/* Gives the places of the run, which was fetched, back to the sender. Called by one thread. */
GYRE_HELPER void gyre_link_give_back_(const gyre_link_view_ *links, const gyre_link_run_ &run)
{
    if (GYRE_POOL_STAYS_(run))
        return;
    if (run.picked) {
        gyre_link_key_give_back_(links, run);
        return;
    }
    const gyre_u32 shift = gyre_link_shift_((gyre_u32)run.mask);
    const gyre_u64 end = run.first + run.count;
    gyre_u64 *const fetched = gyre_link_counts_of_(links, run.ring, run.which);
    gyre_u64 first = run.first;
    while (first != end) {
        const gyre_u64 border = ((first >> shift) + 1) << shift, stop = border < end ? border : end;
        gyre_near_add_(&fetched[((gyre_u32)first & (gyre_u32)run.mask) >> shift], stop - first);
        first = stop;
    }
}

/* Notes whether the requests of a queue come as a stream, when `found` of `hoped` were there. Called by one thread. */
GYRE_HELPER void gyre_link_hope_anew_(gyre_link_view_ *links, gyre_u32 which, gyre_u32 found, gyre_u32 hoped)
{
    const gyre_u64 bit = (gyre_u64)1 << which;
    links->wide = found < GYRE_LINK_STREAM ? links->wide & ~bit : links->wide | bit;
    if (found < hoped)
        links->waits = (gyre_u64)clock64() + GYRE_LINK_STAND_OFF;
}

/* Takes the messages of a hoped run that were there. Called by one thread, behind the fetch. */
GYRE_HELPER void gyre_link_hold_(gyre_link_view_ *links)
{
    gyre_link_run_ *run = &links->run;
    const gyre_u64 end = run->first + links->found;
    if (run->from == GYRE_RUN_LINK) {
        gyre_near_store_(&run->ring->claimed, end);
        links->inlets[run->which].next = end;
        if (links->found < GYRE_LINK_LONG)
            links->inlets_wide &= ~((gyre_u64)1 << run->which);
    } else {
        *(volatile gyre_u64 *)&links->view->served[run->which].claims->next =
            end; /* in shared memory, or not */
        if (links->found && run->from == GYRE_RUN_ENTRY)
            gyre_lap_note_(&links->entries[run->entry], run->first, links->found, (gyre_u32)run->mask);
        gyre_link_hope_anew_(links, run->which, links->found, run->count);
    }
    run->count = links->found;
}

/* ---- flows ---- */

/** A message that is being handled, and what becomes of it. */
struct gyre_link_message_ {
    gyre_u64 origin; /* 0: it belongs to no flow */
    gyre_u64 index;  /* of the request; of a message of a link: not known before the flow ends */
    gyre_u64 next;   /* the origin of what was emitted; 0: nothing leaves */
    gyre_u64 to;     /* where the completion goes; 0: there is none. Bit 0: its payload is there already */
    gyre_u32
        counted; /* its flow's account was written, and has to be there before what was emitted is published */
#if GYRE_LIMITED
    gyre_u32 again; /* its handler is to be called again with it, */
    gyre_u64 keeps; /* and this is its origin then */
#else
    gyre_u32 owes,
        sent; /* owes: its flow counts it, and how many it sent, with others (cuda_link_account.h) */
#endif
#if GYRE_ASKS
    gyre_u32 answer; /* 1 + the port by which its reply goes to whoever asked; 0: it is no answer */
    gyre_i32 asking; /* of what leaves: asks less answers */
#endif
};

GYRE_HELPER const gyre_link_entry_ *gyre_entry_of_(const gyre_link_view_ *links, gyre_u64 origin)
{
    return &links->entries[GYRE_ORIGIN_TABLE(origin)];
}

GYRE_HELPER gyre_flow *gyre_flow_of_(const gyre_link_view_ *links, gyre_u64 origin)
{
    return gyre_entry_of_(links, origin)->flows + GYRE_ORIGIN_PLACE(origin);
}

GYRE_HELPER gyre_u64 gyre_reply_of_(const gyre_link_view_ *links, gyre_u64 origin)
{
    const gyre_link_entry_ *entry = gyre_entry_of_(links, origin);
    return (gyre_u64)(entry->replies + (gyre_u64)GYRE_ORIGIN_PLACE(origin) * entry->reply_stride);
}

#include "gyre/dialect/cuda_link_entry.h"

/* Notes the reply in `out`, unless another handler replied before: its payload goes to the reply slot of the flow. */
GYRE_OUTLINE_ void gyre_note_reply_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_slot *out)
{
    gyre_flow *flow = gyre_flow_of_(links, origin);
    if (atomicAdd_system(&flow->answers, 1u) != 0)
        return;
    gyre_flow_change_(flow, GYRE_FLOW_REPLIED_);
    gyre_chunk *to = (gyre_chunk *)gyre_reply_of_(links, origin);
    const gyre_u32 chunks = (out->length + 15) / 16;
#pragma unroll 1
    for (gyre_u32 chunk = 1; chunk <= chunks; chunk++)
        gyre_chunk_store_(to + chunk, ((const gyre_chunk *)out)[chunk]);
    *(volatile gyre_u32 *)&flow->length = out->length;
    if (links->needs)
        gyre_entry_seal_reply_(links, origin, out);
    gyre_fence_system_(); /* whoever ends the flow stores the header behind this payload */
}

/* Notes the failure in `out`, unless another handler failed before. */
GYRE_HELPER void gyre_note_failure_(gyre_flow *flow, const gyre_slot *out)
{
    if (atomicAdd_system(&flow->failures, 1u) != 0)
        return;
    gyre_flow_change_(flow, GYRE_FLOW_FAILED_);
#pragma unroll 1
    for (gyre_u32 i = 0; i < sizeof(gyre_failure) / 8; i++)
        ((volatile gyre_u64 *)&flow->failure)[i] = ((const gyre_u64 *)(out + 1))[i];
}

/* Notes in its flow what a message of several came to. `out`: its outcome. */
GYRE_HELPER void gyre_note_outcome_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_slot *out)
{
    if (out->info == GYRE_OUTCOME_FAILED)
        gyre_note_failure_(gyre_flow_of_(links, origin), out);
    else if (out->info == GYRE_OUTCOME_REPLY)
        gyre_note_reply_(links, origin, out);
}

/*
 * Writes the completion of a flow whose messages were counted. Returns 1 if its payload is in the reply slot already. What is needed in
 * most cases is asked for together: the flow may lie on another device.
 */
GYRE_HELPER gyre_u32 gyre_end_flow_(const gyre_flow *flow, gyre_slot *out)
{
    const gyre_chunk first = gyre_near_chunk_load_(flow), second = gyre_near_chunk_load_(&flow->failures);
    const gyre_u32 answers = (gyre_u32)(first.y >> 32);
    if ((gyre_u32)second.x) {
        for (gyre_u32 i = 0; i < sizeof(gyre_failure) / 8; i++)
            ((gyre_u64 *)(out + 1))[i] = gyre_near_load_((const gyre_u64 *)&flow->failure + i);
        out->length = sizeof(gyre_failure);
        out->info = GYRE_OUTCOME_FAILED;
        return 0;
    }
    if (answers > 1) {
        gyre_write_failure_(out, GYRE_FAILURE_REPLIES, "two handlers replied to one request");
        return 0;
    }
    if (GYRE_FLOW_ENDS_ASKING_(flow, answers, out))
        return 0;
    out->length = answers ? (gyre_u32)(second.x >> 32) : 0;
    out->info = answers ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_NO_REPLY;
    return answers;
}

#include "gyre/dialect/cuda_link_rounds.h"

/*
 * The only message of its flow goes on as more than one message, or with a reply: from now on its flow counts. A fence follows before
 * what was emitted is published; a message that is kept to be handled again may have emitted nothing.
 */
GYRE_OUTLINE_ void gyre_flow_begins_(const gyre_link_view_ *links, gyre_u64 origin, const gyre_slot *out,
                                     gyre_u32 sent)
{
    gyre_flow *flow = gyre_flow_of_(links, origin);
    *(volatile gyre_u32 *)&flow->answers = 0;
    *(volatile gyre_u32 *)&flow->failures = 0;
    *(volatile gyre_u32 *)&flow->alive = sent;
#if GYRE_LIMITED
    gyre_link_fence_(links->far);
#endif
    if (out->info == GYRE_OUTCOME_REPLY)
        gyre_note_reply_(links, origin, out);
}

/*
 * Settles one message of several. Accounts for what it emitted before that is published, so that the flow cannot end too
 * early. Returns where the completion goes, if the flow ends; its payload may be there already (bit 0).
 */
GYRE_OUTLINE_ gyre_u64 gyre_settle_counted_(const gyre_link_view_ *links, gyre_u64 origin, gyre_slot *out,
                                            gyre_u32 sent)
{
    gyre_flow *flow = gyre_flow_of_(links, origin);
    gyre_note_outcome_(links, origin, out);
    if (sent > 1)
        gyre_flow_change_(flow, sent - 1);
    if (sent)
        return 0;
    gyre_link_fence_(links->far); /* what was noted above is there for whoever ends the flow */
    if (GYRE_FLOW_ALIVE_(gyre_flow_add_(flow, 0u - 1)) != 1)
        return 0;
    gyre_link_fence_(links->far); /* what others noted is there */
    return GYRE_FLOW_ENDS_(links, origin, flow, out);
}

#include "gyre/dialect/cuda_link_account.h"

/* ---- handling ---- */

/* Says where the ports of one call lead. `number`: of the message's place in the stage; in turn: places of the ring. */
template <class K>
GYRE_HELPER void gyre_link_aim_(const gyre_link_view_ *links, const gyre_link_places_ &places,
                                gyre_cuda_port *ports, gyre_u32 number, gyre_u32 emits)
{
    typedef gyre_link_shape_<K> shape;
    gyre_u8 *const mine = places.emitted + (gyre_u64)number * shape::pitch;
    if (shape::emits_near)
        GYRE_IN_SHARED_(mine); /* handlers store there by shorter instructions then */
#pragma unroll
    for (int i = 0; i < (int)shape::ports; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u32 most = K::gyre_its_ports_::of(i).most;
        if (!shape::in_turn)
            ports[i] = {mine + shape::offset_of(i), 0, 0xffffffffu, shape::stride_of(i), most, 0};
        else if (emits && (out->use == GYRE_PORT_LINKED || out->use == GYRE_PORT_TOPIC))
            ports[i] = {out->slots + GYRE_LINK_FRONT_(K::gyre_its_ports_::of(i)),
                        (gyre_u32)out->next,
                        out->mask,
                        out->stride,
                        most,
                        0};
        else
            ports[i] = {places.thrown + GYRE_LINK_FRONT_(K::gyre_its_ports_::of(i)), 0, 0, 0, most, 0};
    }
}

/* Fails a message that was handled. */
GYRE_HELPER void gyre_link_fail_(gyre_slot *out, gyre_i32 code, const char *text)
{
    if (out->info != GYRE_OUTCOME_FAILED)
        gyre_write_failure_(out, code, text);
}

#include "gyre/dialect/cuda_link_asks.h"

/* Returns how many messages the call emitted to links. A message that failed has emitted nothing. */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_emitted_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                        gyre_cuda_port *ports, gyre_slot *out)
{
    typedef gyre_link_shape_<K> shape;
    gyre_u32 sent = 0;
#pragma unroll
    for (int i = 0; i < (int)shape::ports; i++) {
        if (ports[i].emitted && !message->origin)
            gyre_link_fail_(out, GYRE_FAILURE_PORT, "emitted, and the queue enters no pipeline");
        else if (ports[i].emitted && links->outs[i].use == GYRE_PORT_UNWIRED)
            gyre_link_fail_(out, GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
        else if (links->outs[i].use == GYRE_PORT_LINKED)
            sent += ports[i].emitted;
        else if (ports[i].emitted && links->outs[i].use == GYRE_PORT_TOPIC)
            sent += gyre_link_topic_sent_(links, (gyre_u32)i, ports[i].emitted);
    }
    sent += GYRE_LINK_JUDGE_ASKS_(K, links, message, ports, out);
    if (message->origin && !(message->origin & GYRE_ORIGIN_TAP) && out->info == GYRE_OUTCOME_REPLY &&
        !links->answers)
        gyre_link_fail_(out, GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    if (out->info != GYRE_OUTCOME_FAILED)
        return sent;
#pragma unroll
    for (int i = 0; i < (int)shape::ports; i++)
        ports[i].emitted = 0;
    return 0;
}

/* Settles the only message of its flow: as long as it stays alone, nothing is counted. `begins`: the message is the request. */
GYRE_HELPER void gyre_settle_sole_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                   const gyre_slot *out, gyre_u32 sent, gyre_u32 begins)
{
    if (!sent) {
        message->to = gyre_reply_of_(links, message->origin);
        return;
    }
    if (begins)
        gyre_flow_name_(gyre_entry_of_(links, message->origin), message->origin, message->index);
    if (sent == 1 && out->info != GYRE_OUTCOME_REPLY)
        message->next |= GYRE_ORIGIN_SOLE;
    else
        gyre_flow_begins_(links, message->origin, out, sent);
}

/*
 * Whether later stages may read what was written when a request was taken, so that a fence stands before its messages: of an entry that
 * needs more. Headers are the client's, and were there before the request.
 */
GYRE_HELPER gyre_u32 gyre_entry_writes_(const gyre_link_view_ *links)
{
    return GYRE_HEADED || links->needs;
}

#include "gyre/dialect/cuda_link_group.h"

#if !GYRE_LIMITED
/* Settles a message that was handled, by one thread: notes its outcome in its flow, and whether the flow ends. */
template <class K>
GYRE_HELPER void gyre_link_settle_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                   gyre_cuda_port *ports, gyre_slot *out)
{
    const gyre_u32 sent = gyre_link_emitted_<K>(links, message, ports, out);
    const gyre_u32 begins = links->run.from == GYRE_RUN_ENTRY;
    if (!message->origin) {
        message->to = (gyre_u64)gyre_reply_at_(&links->view->served[links->run.which], message->index);
    } else if (message->origin & GYRE_ORIGIN_TAP) {
        message->next =
            GYRE_ORIGIN_NEXT(message->origin); /* its flow may be over: nothing is looked up by its origin */
        return;
    } else {
        message->next = GYRE_ORIGIN_NEXT(message->origin);
        if (message->origin & GYRE_ORIGIN_SOLE)
            gyre_settle_sole_(links, message, out, sent, begins);
        else if (gyre_link_groups_<K>(links))
            gyre_group_settle_(links, gyre_group_join_(links, message, out), out, sent);
        else if (!gyre_link_shape_<K>::in_turn)
            gyre_account_later_(links, message, out, sent);
        else
            message->to = gyre_settle_counted_(links, message->origin, out, sent);
        if (message->to && !begins)
            message->index = gyre_flow_index_(gyre_entry_of_(links, message->origin), message->origin);
    }
    out->sequence = message->index + 1;
    if (message->to && message->origin && links->needs)
        gyre_entry_end_(links, message->origin, message->index, message->to, out);
    message->counted = sent && ((begins && gyre_entry_writes_(links)) || !(message->next & GYRE_ORIGIN_SOLE));
}
#endif
#include "gyre/dialect/cuda_link_limited.h"

/* Makes the context of a message, and says to which flow it belongs. */
GYRE_HELPER gyre_link_message_ gyre_link_begin_(const gyre_link_view_ *links, const gyre_slot *in,
                                                gyre_u32 number, gyre_context *gyre)
{
    const gyre_link_run_ *run = &links->run;
    gyre_link_message_ message = {0, run->first + number, 0, 0, 0};
    gyre->failed = 0;
    gyre->origin = 0;
    gyre->entry = 0;
    gyre->clears = GYRE_LINK_CLEARS_(links, 0);
    GYRE_LINK_TAKE_TOKEN_(links, number, gyre);
    if (run->from == GYRE_RUN_QUEUE)
        return message;
    if (run->from == GYRE_RUN_ENTRY) {
        message.origin = gyre_origin_begins_(run->entry, message.index, (gyre_u32)run->mask);
    } else {
        message.origin = in->sequence; /* where a slot of a link has its origin */
        if (!(message.origin & GYRE_ORIGIN_TAP))
            gyre->entry = gyre_entry_of_(links, message.origin);
    }
    gyre->origin = message.origin;
    gyre->index = message.index;
    if (links->needs && !(message.origin & GYRE_ORIGIN_TAP))
        gyre->clears =
            GYRE_LINK_CLEARS_(links, gyre_entry_of_(links, message.origin)->needs & GYRE_NEEDS_CARE_);
#if GYRE_HEADED
    if (message.origin & GYRE_ORIGIN_TAP) {
        GYRE_HEADER_QUEUE_(gyre, 0, 0, ~(gyre_u64)0);
        GYRE_HEADER_FOREIGN_(gyre, 0);
        return message;
    }
    const gyre_link_entry_ *entry = gyre_entry_of_(links, message.origin);
    GYRE_HEADER_QUEUE_(gyre, entry->headers, entry->header_size, ~(gyre_u64)0);
    GYRE_HEADER_FOREIGN_(gyre, 0); /* those of other programs are copies */
#endif
    return message;
}

/* Whether flows of the run begin with more than their request (cuda_link_entry.h). */
GYRE_HELPER gyre_u32 gyre_link_begins_more_(const gyre_link_view_ *links)
{
    return links->needs && links->run.from == GYRE_RUN_ENTRY;
}

/* Whether a message that was taken up goes to its handler. Fails it otherwise. */
GYRE_HELPER gyre_u32 gyre_link_is_whole_request_(gyre_context *gyre, const gyre_link_message_ *message,
                                                 const gyre_slot *in, gyre_u32 begun)
{
    if (begun != GYRE_BEGUN_DAMAGED_)
        return (gyre_u32)gyre_seal_holds_(gyre, message->index, in + 1, in->length);
    gyre_fail_(gyre, GYRE_FAILURE_SEAL, "the CRC-32C of the request is wrong");
    return 0;
}

/* Which header a message has: that of the request that began its flow. */
GYRE_HELPER gyre_u64 gyre_link_header_(const gyre_link_message_ *message)
{
    return message->origin ? GYRE_ORIGIN_PLACE(message->origin) : message->index;
}

/* Handles one message by one thread. Returns 1 when it failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_handle_(const gyre_link_view_ *links, gyre_chunk *cells, gyre_u32 number,
                                       gyre_cuda_port *ports, gyre_link_message_ *message, void *state,
                                       const void *buffers, gyre_context *gyre)
{
    gyre_chunk *cell = cells + number * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 drop_before = links->run.from == GYRE_RUN_LINK ? 0 : links->run.drop_before;
    gyre_u32 begun = GYRE_BEGUN_;
    *message = gyre_link_begin_(links, in, number, gyre);
    if (gyre_link_begins_more_(links))
        begun = gyre_entry_begin_(links, message->origin, in, K::gyre_its_request_size_);
    if (begun == GYRE_BEGUN_BUSY_) {
        GYRE_LINK_PASS_OVER_(links, message);
        return 0;
    }
#if GYRE_LIMITED
    if (gyre_link_enter_<K>(links, message, out, gyre)) {
        gyre_link_settle_<K>(links, message, ports, out);
        return 0;
    }
#endif
    if (!gyre_settle_<K>(in, out, links->run.first + number, drop_before, 1)) {
        GYRE_HEADER_TAKE_(gyre, gyre_link_header_(message));
        GYRE_STAMP_BEGIN_(gyre, message->index, started);
        const int result =
            gyre_link_is_whole_request_(gyre, message, in, begun)
                ? K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state, 0, buffers, gyre)
                : GYRE_FAILED;
        gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
        GYRE_LINK_NOTE_AGAIN_(message, gyre);
        gyre_link_settle_<K>(links, message, ports, out);
        gyre_seal_reply_(gyre, message->index, out->info, out + 1, out->length);
        GYRE_STAMP_END_(gyre, message->index, started);
    } else {
        gyre_link_settle_<K>(links, message, ports, out);
    }
    return out->info == GYRE_OUTCOME_FAILED;
}

#if GYRE_GRID
/* Whether a message of the kernel is handled by all of its blocks. */
#define GYRE_IS_GRID_(K) (K::gyre_its_kernel_form_ == 5 && gridDim.x > 1)
#define GYRE_GRID_RUN_(K, ...)                                                                               \
    do {                                                                                                     \
        if constexpr (K::gyre_its_kernel_form_ == 5)                                                         \
            gyre_grid_run_<K>(__VA_ARGS__);                                                                  \
    } while (0)
#define GYRE_LINK_BEGIN_BLOCK_(gyre, message) gyre_grid_begin_((gyre), gyre_link_header_(message))
#else
#define GYRE_IS_GRID_(K)       0
#define GYRE_GRID_RUN_(K, ...) ((void)0)
#define GYRE_LINK_BEGIN_BLOCK_(gyre, message)                                                                \
    gyre_block_begin_(gyre);                                                                                 \
    GYRE_HEADER_SHARE_((gyre), gyre_link_header_(message));                                                  \
    __syncthreads()
#endif

/* Handles one message by all lanes of the block. Lane 0 settles it, and returns 1 when it failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_handle_block_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                             gyre_chunk *cells, gyre_u32 number, gyre_cuda_port *ports,
                                             gyre_link_message_ *message, void *state, void *scratch,
                                             const void *buffers, gyre_context *gyre)
{
    gyre_chunk *cell = cells + number * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 drop_before = links->run.from == GYRE_RUN_LINK ? 0 : links->run.drop_before;
    gyre_u32 begun = GYRE_BEGUN_;
    *message = gyre_link_begin_(links, in, number, gyre);
    if (gyre_link_begins_more_(links)) {
        if (gyre->lane == 0)
            links->begun = gyre_entry_begin_(links, message->origin, in, K::gyre_its_request_size_);
        __syncthreads();
        begun = *(volatile gyre_u32 *)&links->begun;
    }
    if (begun == GYRE_BEGUN_BUSY_) {
        if (gyre->lane == 0)
            GYRE_LINK_PASS_OVER_(links, message);
        return 0;
    }
#if GYRE_LIMITED
    if (__syncthreads_or((int)gyre_link_enter_<K>(links, message, out, gyre))) {
        if (gyre->lane == 0)
            gyre_link_settle_<K>(links, message, ports, out);
        return 0;
    }
#endif
    const gyre_u32 refused =
        gyre_settle_<K>(in, out, links->run.first + number, drop_before, gyre->lane == 0);
    GYRE_STAMP_BEGIN_(gyre, message->index, started);
    if (!refused) {
        GYRE_LINK_BEGIN_BLOCK_(gyre, message);
        const int whole = gyre_link_is_whole_request_(gyre, message, in, begun);
        if (GYRE_IS_GRID_(K) && whole) {
            GYRE_GRID_RUN_(K, arguments, cells, number, gyre_link_header_(message), state, scratch, buffers,
                           gyre);
        } else {
            const int result = whole ? K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state,
                                                           scratch, buffers, gyre)
                                     : GYRE_FAILED;
            gyre_block_end_(gyre, out, result, gyre_reply_length_<K>(out));
        }
        __syncthreads(); /* the lane that failed has written why */
    }
    if (gyre->lane != 0)
        return 0;
    if (!refused)
        GYRE_LINK_NOTE_AGAIN_(message, gyre);
    gyre_link_settle_<K>(links, message, ports, out);
    gyre_seal_reply_(gyre, message->index, out->info, out + 1, out->length);
    if (!refused) {
        GYRE_STAMP_END_(gyre, message->index, started);
    }
    return out->info == GYRE_OUTCOME_FAILED;
}

#include "gyre/dialect/cuda_link_send.h"
#include "gyre/dialect/cuda_link_lone.h"
#include "gyre/dialect/cuda_link_sink.h"
#include "gyre/dialect/cuda_link_drain.h"
#include "gyre/dialect/cuda_link_lean.h"
#if GYRE_ASKS
#include "gyre/dialect/cuda_link_talk.h"
#endif

/* ---- runs ---- */

/*
 * Stores the completions of a warp's messages: `to` of message `number`, which is this lane's. What gyre_entry_end_ stored has to be
 * there before: whoever has the completion may send again.
 */
template <class K>
GYRE_HELPER void gyre_link_complete_all_(const gyre_link_view_ *links, const gyre_link_places_ &places,
                                         gyre_u32 number, gyre_u64 to)
{
    typedef gyre_stage_<K> stage;
    if (!__any_sync(gyre_warp_lanes_(), to != 0))
        return;
    if (links->needs) {
        gyre_fence_system_();
        __syncwarp(gyre_warp_lanes_());
    }
    gyre_link_complete_(places.cells + number * stage::cell + stage::request_chunks, stage::cell,
                        stage::reply_chunks > GYRE_LINE_CHUNKS, to);
}

/* Handles a run by lanes, a message each: by the first warp, or by the block. */
template <class K>
GYRE_HELPER void gyre_link_run_lanes_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                      const gyre_link_places_ &places, gyre_u32 threads, const void *buffers,
                                      gyre_context *gyre)
{
    gyre_cuda_port ports[gyre_link_shape_<K>::ports + 1];
    gyre_link_message_ message = {0, 0, 0, 0, 0};
    const gyre_u32 number = threadIdx.x, hoped = links->run.hoped;
    gyre_u32 failed = 0;
    gyre_link_fetch_<K>(links, places.cells, threads);
    gyre_link_meet_(threads);
    const gyre_u32 count = hoped ? *(volatile gyre_u32 *)&links->found : links->run.count,
                   mine = number < count;
    if (number == 0 && hoped)
        gyre_link_hold_(links);
    if (number == 0 && links->run.from == GYRE_RUN_LINK)
        gyre_link_give_back_(links, links->run);
    if (!count)
        return;
    GYRE_QUEUE_BEGIN_(gyre, gyre_link_queue_(links));
    gyre->ports = ports;
#if GYRE_LIMITED
    gyre->spare = places.thrown;
#endif
    gyre_link_aim_<K>(links, places, ports, number, 1);
    if (mine)
        failed = gyre_link_handle_<K>(links, places.cells, number, ports, &message, arguments.state, buffers,
                                      gyre);
    if (failed)
        atomicAdd(&links->view->failed, (gyre_u64)failed);
    GYRE_ACCOUNT_RUN_(K, links, &message, places.cells, number, threads);
    gyre_link_publish_<K>(links, ports, message, threads);
    gyre_link_complete_all_<K>(links, places, number, message.to);
}

#include "gyre/dialect/cuda_link_turn.h"

/* The most messages that the next run may have. */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_most_(const gyre_link_view_ *links, const gyre_link_places_ &places)
{
    return gyre_link_shape_<K>::in_turn && links->in_turn < places.window ? links->in_turn : places.window;
}

/* Ends a run: called by thread 0, behind a barrier. */
GYRE_HELPER void gyre_link_end_run_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links)
{
    gyre_turn_ends_(gyre_turn_(arguments, 0));
    links->view->handled +=
        GYRE_LINK_IS_KEPT_(links) ? 0 : links->run.count; /* or it was counted when it was taken */
}

/*
 * Finds the next run that takes the block, or another order. Lane kernels need no block for a run of few messages: the first
 * warp handles it meanwhile. Called by the first warp.
 */
template <class K>
GYRE_HELPER void gyre_link_alone_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                  const gyre_link_places_ &places, const void *buffers, gyre_context *gyre)
{
    const gyre_u32 few = gyre_link_shape_<K>::in_turn ? 0 : 32;
    for (;;) {
        gyre_u32 next = GYRE_LONE_LONG_WAY;
        if constexpr (gyre_lone_suits_<K>())
            next = gyre_link_lone_<K>(arguments, links, buffers, gyre);
        if (next == GYRE_LONE_BACKLOG)
            return;
#if GYRE_ASKS
        if constexpr (gyre_talk_suits_<K>())
            if (gyre_talk_<K>(arguments, links, places, buffers, gyre))
                return;
#endif
        if (next == GYRE_LONE_GLANCE)
            gyre_link_glance_(arguments, links, gyre_link_most_<K>(links, places));
        else
            gyre_link_find_(arguments, links, gyre_link_most_<K>(links, places));
        if (links->run.from == GYRE_RUN_LATER)
            continue;
        if (links->run.from == GYRE_RUN_NONE || links->run.from == GYRE_RUN_DRAIN || links->run.count > few)
            return;
        if constexpr (!gyre_link_shape_<K>::in_turn)
            gyre_link_run_lanes_<K>(arguments, links, places, 32, buffers, gyre);
        __syncwarp();
        if (threadIdx.x == 0)
            gyre_link_end_run_(arguments, links);
        __syncwarp();
    }
}

/* Takes runs until another order. Called by all threads. */
template <class K>
GYRE_HELPER void gyre_serve_links_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                   gyre_link_view_ *links, gyre_chunk *memory, const void *buffers,
                                   gyre_context *gyre)
{
    typedef gyre_link_shape_<K> shape;
    const gyre_link_places_ places = gyre_link_places_of_<K>(arguments, memory);
    gyre_link_open_<K>(arguments, view, links);
    if (threadIdx.x == 0)
        links->drains = gyre_drain_suits_<K>(memory) && !links->branch_count && !links->needs;
    __syncthreads();
    for (;;) {
        if (threadIdx.x < 32)
            gyre_link_alone_<K>(arguments, links, places, buffers, gyre);
        __syncthreads();
        if (links->run.from == GYRE_RUN_NONE)
            return;
        if constexpr (gyre_lone_suits_<K>()) {
            if (links->run.from == GYRE_RUN_DRAIN) {
                gyre_link_drain_<K>(arguments, links, memory, buffers, gyre);
                continue;
            }
        }
        if constexpr (shape::in_turn)
            gyre_link_run_in_turn_<K>(arguments, links, places, memory, buffers, gyre);
        else
            gyre_link_run_lanes_<K>(arguments, links, places, blockDim.x, buffers, gyre);
        __syncthreads();
        if (threadIdx.x == 0)
            gyre_link_end_run_(arguments, links);
    }
}

template <class K> GYRE_HELPER void gyre_reside_(const gyre_cuda_arguments &arguments, const void *buffers)
{
    extern __shared__ gyre_chunk gyre_dynamic_memory_[];
    __shared__ gyre_block_view view;
    __shared__ gyre_link_view_ links;
    __shared__ gyre_link_group_ group;
    gyre_context gyre;
    gyre_shape shape = gyre_shape_of_<K>();
    shape.state_bytes = 0; /* the state stays where it lies */
    gyre_context_make_(&gyre, arguments, gyre_lanes_share_<K>());
    if (K::gyre_its_kernel_form_ == 3)
        gyre.lane_count = 1; /* the other threads only help to move messages */
#if GYRE_GRID
    if constexpr (K::gyre_its_kernel_form_ == 5)
        gyre_grid_open_(arguments, &gyre, &shape);
#endif
    gyre_arrive_(arguments, &view, shape, 0);
    if (threadIdx.x == 0) {
        if constexpr (gyre_sink_suits_<K>())
            *gyre_opened_() = 0;
        links.group = &group;
        group = {0, 0, links.to, 0, 0, 0};
#if GYRE_KEYED
        links.by_first = 0;
#endif
    }
    while (gyre_next_order_(arguments, &view) != 0) {
#if GYRE_GRID
        if constexpr (K::gyre_its_kernel_form_ == 5) {
            if (blockIdx.x > 0) { /* block 0 has its messages at the begin of its stage */
                gyre_grid_follow_<K>(arguments, &view, (gyre_chunk *)arguments.stage, gyre_dynamic_memory_,
                                     buffers, &gyre);
                continue;
            }
        }
#endif
        gyre_serve_links_<K>(arguments, &view, &links, gyre_dynamic_memory_, buffers, &gyre);
    }
}

#endif
