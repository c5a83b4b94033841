/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What handlers ask and answer, in files that are compiled with GYRE_ASKS (cuda_link_asked.h). Included by cuda_links.h.
 *
 * A reply of a handler whose message was asked goes into the block's ring of the port that leads to the asker, which lies behind the
 * kernel's own ports. Asks less answers are counted in the flow before any of them is published: an ask and an answer are messages that
 * are alive, so the flow cannot end before.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_ASKS_H
#define GYRE_DIALECT_CUDA_LINK_ASKS_H

#if !GYRE_ASKS
#define GYRE_LINK_JUDGE_ASKS_(K, links, message, ports, out)            0
#define GYRE_LINK_PLACE_ASKS_(K, links, places, number, message, ports) ((void)0)
#define GYRE_LINK_FORGET_ASKS_(links, message)                          ((void)0)
#define GYRE_LINK_COUNT_ASKS_(links, message, leaves)                   ((void)0)
#define GYRE_LINK_END_SILENT_(links, message, out)                      ((void)0)
#define GYRE_LINK_KEEP_ASK_(links)                                      ((void)0)
#else

#define GYRE_TOO_DEEP_TEXT_ "more asks wait for each other than " GYRE_TEXT_(GYRE_ASKS_DEEP)

/* ---- what a call did ---- */

/* The kernel's port that leads to whoever asked; GYRE_PORTS_MAX: there is none. */
GYRE_HELPER gyre_u32 gyre_ask_way_back_(const gyre_link_view_ *links, const gyre_link_ask *ask)
{
    const gyre_u32 port = ask->returns[GYRE_ASK_DEPTH_(ask) - 1].port;
    return port < links->port_count && links->outs[port].use == GYRE_PORT_LINKED &&
                   links->outs[port].talk == GYRE_TALK_ANSWERS
               ? port
               : GYRE_PORTS_MAX;
}

/*
 * Judges what the call asked, and takes its reply for an answer when the message was asked. Returns how many messages leave besides
 * those to the kernel's ports. `out` may become a failure.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_judge_asks_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                           const gyre_cuda_port *ports, gyre_slot *out)
{
    const gyre_link_ask *ask = gyre_ask_of_(links, (gyre_u32)(message->index - links->run.first));
    const gyre_u32 said = GYRE_ASK_DEPTH_(ask), depth = said < GYRE_ASKS_DEEP ? said : GYRE_ASKS_DEEP;
    gyre_u32 asks = 0;
    message->answer = 0;
    message->asking = 0;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        if (K::gyre_its_ports_::of(i).asks && links->outs[i].use == GYRE_PORT_LINKED)
            asks += ports[i].emitted;
    if (out->info == GYRE_OUTCOME_FAILED || !message->origin || message->origin & GYRE_ORIGIN_TAP)
        return 0;
    if (asks && depth == GYRE_ASKS_DEEP) {
        gyre_link_fail_(out, GYRE_FAILURE_ASK, GYRE_TOO_DEEP_TEXT_);
        return 0;
    }
    if (out->info == GYRE_OUTCOME_REPLY && depth) {
        const gyre_u32 port = gyre_ask_way_back_(links, ask);
        if (port == GYRE_PORTS_MAX) {
            gyre_link_fail_(out, GYRE_FAILURE_ANSWER,
                            "replied to an ask, and no link leads back to the asker");
            return 0;
        }
        message->answer = 1 + port;
        out->info = GYRE_OUTCOME_NO_REPLY; /* to the client */
    }
    message->asking = (gyre_i32)asks - (message->answer != 0) + GYRE_ASK_CARRY_(ask);
    return message->answer != 0;
}
#define GYRE_LINK_JUDGE_ASKS_(K, links, message, ports, out)                                                 \
    gyre_link_judge_asks_<K>((links), (message), (ports), (out))

/* ---- in the flow ---- */

/* The request of a flow emitted something for the first time: nobody has asked yet. */
#define GYRE_LINK_FORGET_ASKS_(links, message)                                                               \
    gyre_near_half_store_((gyre_u32 *)&gyre_flow_of_((links), (message)->origin)->asking, 0)

/* Counts what leaves. Called before that is published; then the flow does not end with this message. */
GYRE_HELPER void gyre_link_count_asks_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                       gyre_u32 leaves)
{
    if (!leaves) {
        message->answer = 0;
        return;
    }
    if (message->asking)
        atomicAdd_system(&gyre_flow_of_(links, message->origin)->asking, message->asking);
    gyre_link_ask *ask = (gyre_link_ask *)gyre_ask_of_(links, (gyre_u32)(message->index - links->run.first));
    ask->depth = GYRE_ASK_DEPTH_(ask); /* what it took along is counted */
}
#define GYRE_LINK_COUNT_ASKS_(links, message, leaves) gyre_link_count_asks_((links), (message), (leaves))

/*
 * The only message of a flow ends it. Without a reply and a failure it fails when an ask was not answered. A request that emitted nothing
 * has asked nobody, and what the flow says is of an earlier request.
 */
GYRE_HELPER void gyre_link_end_silent_(const gyre_link_view_ *links, const gyre_link_message_ *message,
                                       gyre_slot *out)
{
    if (out->info == GYRE_OUTCOME_NO_REPLY && links->run.from != GYRE_RUN_ENTRY &&
        GYRE_FLOW_ASKING_(gyre_flow_of_(links, message->origin)) +
                GYRE_ASK_CARRY_(gyre_ask_of_(links, (gyre_u32)(message->index - links->run.first))) >
            0)
        gyre_write_failure_(out, GYRE_FAILURE_ASK, GYRE_NO_ANSWER_TEXT_);
}
#define GYRE_LINK_END_SILENT_(links, message, out)    gyre_link_end_silent_((links), (message), (out))

/* ---- sending ---- */

/* Writes in front of a message whom its answer goes to, or, of an answer, which ask it answers. `mine`: of the message that was handled. */
GYRE_OUTLINE_ void gyre_ask_address_(const gyre_link_ask *mine, gyre_link_ask *to, gyre_u32 answers,
                                     gyre_u32 back)
{
    const gyre_u32 depth = GYRE_ASK_DEPTH_(mine), token = to->token;
#pragma unroll 1
    for (gyre_u32 i = 0; i < depth && i < GYRE_ASKS_DEEP; i++)
        to->returns[i] = mine->returns[i];
    to->token = answers ? mine->returns[depth - 1].token : 0;
    to->depth = answers ? depth - 1 : depth + 1;
    if (answers)
        return;
    to->returns[depth].port = back;
    to->returns[depth].token = token;
}

/* Puts the reply into place `at` of the port `out`, which leads to whoever asked. */
GYRE_OUTLINE_ void gyre_ask_answer_(const gyre_link_out_ *out, gyre_u64 at, const gyre_link_ask *mine,
                                    const gyre_slot *reply, gyre_u64 origin)
{
    gyre_link_slot *const slot = (gyre_link_slot *)(out->slots + (at & out->mask) * out->stride);
    gyre_link_ask *const ask = (gyre_link_ask *)(slot + 1);
    gyre_u64 *to = (gyre_u64 *)(ask + 1);
    const gyre_u64 *from = (const gyre_u64 *)(reply + 1);
    slot->origin = origin;
    slot->length = reply->length;
    if (out->choice) { /* the asker takes several types: as GYRE_PROTOCOL has them */
        slot->length += GYRE_CHOICE_FRONT;
        *to++ = (gyre_u64)out->choice << 32 | slot->length;
    }
#pragma unroll 4
    for (gyre_u32 i = 0; i < (reply->length + 7) / 8; i++)
        to[i] = from[i];
    gyre_ask_address_(mine, ask, 1, 0);
}

/*
 * Addresses what one call asked, and puts its answer into the ring. `next`: where the call's messages of a port begin, before they were
 * placed. Called by thread 0.
 */
template <class K>
GYRE_HELPER void gyre_link_place_asks_(gyre_link_view_ *links, const gyre_link_places_ &places,
                                       gyre_u32 number, const gyre_link_message_ &message,
                                       const gyre_cuda_port *ports)
{
    const gyre_link_ask *mine = gyre_ask_of_(links, number);
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_link_out_ *out = &links->outs[i];
        const gyre_u32 asks = K::gyre_its_ports_::of(i).asks && message.next && out->use == GYRE_PORT_LINKED
                                  ? ports[i].emitted
                                  : 0;
#pragma unroll 1
        for (gyre_u32 k = 0; k < asks; k++)
            gyre_ask_address_(mine,
                              (gyre_link_ask *)(out->slots + ((out->next + k) & out->mask) * out->stride +
                                                GYRE_SLOT_HEADER_SIZE),
                              0, out->back);
    }
    if (message.answer) {
        gyre_link_out_ *out = &links->outs[message.answer - 1];
        gyre_ask_answer_(out, out->next++, mine,
                         (const gyre_slot *)(places.cells + number * gyre_stage_<K>::cell +
                                             gyre_stage_<K>::request_chunks),
                         message.next);
    }
}
#define GYRE_LINK_PLACE_ASKS_(K, links, places, number, message, ports)                                      \
    gyre_link_place_asks_<K>((links), (places), (number), (message), (ports))

/* Keeps what the message of the run asks or answers, with the message. Called by thread 0. */
GYRE_HELPER void gyre_link_keep_ask_(const gyre_link_view_ *links)
{
#pragma unroll 1
    for (gyre_u32 part = 0; part < GYRE_ASK_CHUNKS; part++)
        gyre_near_chunk_store_(gyre_ask_kept_(links) + 16 * part, links->asks[part]);
}
#define GYRE_LINK_KEEP_ASK_(links) gyre_link_keep_ask_(links)
#endif

#endif
