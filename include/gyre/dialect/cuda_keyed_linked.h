/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message of a keyed actor that is a stage of a pipeline: it belongs to a flow, as any stage's (cuda_links.h), and is settled there by
 * the thread that handled it. Where its completion goes is kept in the message's cell, whose origin nobody needs any more then.
 * Included by cuda_keyed.h. What a run does is in cuda_keyed_stage.h.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_LINKED_H
#define GYRE_DIALECT_CUDA_KEYED_LINKED_H

/** gyre_keyed_walk_.passed: why the handler does not get a message that did not fail. */
enum gyre_keyed_passed_ {
    GYRE_KEYED_PASSED_NOT_ = 0,
    GYRE_KEYED_PASSED_BUSY_, /* the place of the request is busy (cuda_link_entry.h): it gets no completion */
    GYRE_KEYED_PASSED_OVER_  /* its flow is over its quota */
};

#define GYRE_KEYED_LINKED_ 3u /* the kind of a line (cuda_keyed_routes.h) of a message that came by a link */

/* The word of a message's cell that says where its completion goes (gyre_link_message_.to) once it was settled. */
GYRE_HELPER gyre_u64 *gyre_keyed_linked_to_(gyre_chunk *cell)
{
    return &((gyre_slot *)cell)->sequence;
}

/* ---- messages of routers ---- */

/* The queue of a message that came by a router, and whether it came by a link before. */
#define GYRE_KEYED_QUEUE_(in)     ((in)->info & 0xffu)
#define GYRE_KEYED_IS_LINKED_(in) ((in)->info >> 8 == GYRE_KEYED_LINKED_)

/* As gyre_link_begin_: its queue and kind are in its cell, and of a message of a link its origin. Nothing else is beside it. */
GYRE_HELPER gyre_link_message_ gyre_keyed_routed_begin_(const gyre_link_view_ *links, const gyre_slot *in,
                                                        gyre_context *gyre)
{
    gyre_link_message_ message = {0, in->sequence - 1, 0, 0, 0};
    const gyre_u32 which = GYRE_KEYED_QUEUE_(in), is_linked = GYRE_KEYED_IS_LINKED_(in);
    if (is_linked) {
        message.origin = in->sequence;
        message.index = 0; /* its flow has it */
    } else if (links->entry_of[which]) {
        message.origin = gyre_origin_begins_(links->entry_of[which] - 1u, message.index,
                                             (gyre_u32)links->view->served[which].mask);
    }
    gyre->failed = 0;
    gyre->origin = message.origin;
    gyre->index = message.index;
    gyre->entry =
        is_linked && !(message.origin & GYRE_ORIGIN_TAP) ? gyre_entry_of_(links, message.origin) : 0;
    return message;
}

/* As gyre_link_settle_, for a kernel without ports. */
GYRE_HELPER void gyre_keyed_routed_settle_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                           const gyre_slot *in, gyre_slot *out)
{
    const gyre_u64 origin = message->origin;
    if (origin & GYRE_ORIGIN_TAP)
        return;
    if (origin && out->info == GYRE_OUTCOME_REPLY && !links->answers)
        gyre_link_fail_(out, GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    if (!origin)
        message->to = (gyre_u64)gyre_reply_at_(&links->view->served[GYRE_KEYED_QUEUE_(in)], message->index);
    else if (origin & GYRE_ORIGIN_SOLE)
        message->to = gyre_reply_of_(links, origin);
    else
        message->to = gyre_settle_counted_(links, origin, out, 0);
    if (message->to && GYRE_KEYED_IS_LINKED_(in))
        message->index = gyre_flow_index_(gyre_entry_of_(links, origin), origin);
    out->sequence = message->index + 1;
}

/* ---- all messages ---- */

/* Notes to which flow the message of the walk belongs. Returns 0, and says why in walk->passed, when it goes to no handler. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_linked_enter_(gyre_keyed_walk_ *walk, gyre_context *gyre, gyre_u32 *begun)
{
    gyre_chunk *cell = walk->cells + walk->slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    walk->passed = GYRE_KEYED_PASSED_NOT_;
    *begun = GYRE_BEGUN_;
    if (walk->first == GYRE_KEYED_ROUTED_) {
        walk->message = gyre_keyed_routed_begin_(walk->links, in, gyre);
        return 1;
    }
    walk->message = gyre_link_begin_(walk->links, in, walk->slot, gyre);
    if (gyre_link_begins_more_(walk->links))
        *begun = gyre_entry_begin_(walk->links, walk->message.origin, in, K::gyre_its_request_size_);
    if (*begun == GYRE_BEGUN_BUSY_)
        walk->passed = GYRE_KEYED_PASSED_BUSY_;
#if GYRE_LIMITED
    else if (gyre_link_enter_<K>(walk->links, &walk->message,
                                 (gyre_slot *)(cell + gyre_stage_<K>::request_chunks), gyre))
        walk->passed = GYRE_KEYED_PASSED_OVER_;
#endif
    return walk->passed == GYRE_KEYED_PASSED_NOT_;
}

/* As gyre_keyed_begin_. */
template <class K>
GYRE_HELPER int gyre_keyed_linked_begin_(gyre_keyed_walk_ *walk, gyre_context *gyre, gyre_u64 *copy)
{
    const gyre_slot *in = (const gyre_slot *)(walk->cells + walk->slot * gyre_stage_<K>::cell);
    gyre_u32 begun;
    (void)copy;
    if (!gyre_keyed_linked_enter_<K>(walk, gyre, &begun))
        return 0;
    GYRE_HEADER_TAKE_TO_(gyre, gyre_link_header_(&walk->message), copy);
#if GYRE_TIMED
    GYRE_STAMP_BEGIN_(gyre, walk->message.index, started);
    walk->started = started;
#endif
    return (int)gyre_link_is_whole_request_(gyre, &walk->message, in, begun);
}

/* Settles the message of the walk, whose outcome is in its cell. Returns 1 when it failed. */
template <class K> GYRE_HELPER gyre_u32 gyre_keyed_linked_settle_(gyre_keyed_walk_ *walk)
{
    gyre_chunk *cell = walk->cells + walk->slot * gyre_stage_<K>::cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    if (walk->first == GYRE_KEYED_ROUTED_)
        gyre_keyed_routed_settle_(walk->links, &walk->message, (const gyre_slot *)cell, out);
    else
        gyre_link_settle_<K>(walk->links, &walk->message, 0, out);
    *gyre_keyed_linked_to_(cell) = walk->message.to;
#if GYRE_ASKS
    if (walk->message.answer) { /* other threads answer as well: each takes a place of its own */
        gyre_link_out_ *way = &walk->links->outs[walk->message.answer - 1];
        gyre_ask_answer_(way, atomicAdd(&way->next, (gyre_u64)1), gyre_ask_of_(walk->links, walk->slot), out,
                         walk->message.next);
    }
#endif
    return out->info == GYRE_OUTCOME_FAILED;
}

/* Ends a message that was handled, or that failed before. Returns 1 when it failed. */
template <class K> GYRE_HELPER gyre_u32 gyre_keyed_linked_end_(gyre_keyed_walk_ *walk, gyre_context *gyre)
{
    const gyre_slot *out =
        (const gyre_slot *)(walk->cells + walk->slot * gyre_stage_<K>::cell + gyre_stage_<K>::request_chunks);
    (void)out;
    (void)gyre;
    GYRE_LINK_NOTE_AGAIN_(&walk->message, gyre);
    const gyre_u32 failed = gyre_keyed_linked_settle_<K>(walk);
    gyre_seal_reply_(gyre, walk->message.index, out->info, out + 1, out->length);
    GYRE_STAMP_END_(gyre, walk->message.index, walk->started);
    return failed;
}

/* Ends a message that is passed over. */
template <class K> GYRE_HELPER gyre_u32 gyre_keyed_linked_pass_(gyre_keyed_walk_ *walk)
{
    if (walk->passed == GYRE_KEYED_PASSED_OVER_)
        return gyre_keyed_linked_settle_<K>(walk);
    GYRE_LINK_PASS_OVER_(walk->links, &walk->message);
    *gyre_keyed_linked_to_(walk->cells + walk->slot * gyre_stage_<K>::cell) = 0;
    return 0;
}

/* As gyre_keyed_refuse_. */
template <class K> GYRE_HELPER gyre_u32 gyre_keyed_linked_refuse_(gyre_keyed_walk_ *walk, gyre_context *gyre)
{
    gyre_chunk *cell = walk->cells + walk->slot * gyre_stage_<K>::cell;
    if (walk->passed != GYRE_KEYED_PASSED_NOT_)
        return gyre_keyed_linked_pass_<K>(walk);
    gyre_lane_end_(gyre, (gyre_slot *)(cell + gyre_stage_<K>::request_chunks), GYRE_FAILED, 0);
    return gyre_keyed_linked_end_<K>(walk, gyre);
}

/*
 * Ends a message that was dropped, or has a wrong length: its outcome is in its cell. `first`: as in gyre_keyed_walk_. Called by the thread
 * of its number.
 */
template <class K>
GYRE_HELPER void gyre_keyed_linked_settle_alone_(gyre_link_view_ *links, gyre_chunk *cells, gyre_u64 first,
                                                 gyre_u32 slot, gyre_context *gyre)
{
    gyre_keyed_walk_ walk = {cells, first, 0, slot};
    gyre_u32 begun;
    walk.links = links;
    if (!gyre_keyed_linked_enter_<K>(&walk, gyre, &begun))
        gyre_keyed_linked_pass_<K>(&walk);
    else
        gyre_keyed_linked_settle_<K>(&walk);
}

#endif
