/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with ports, and what they send to. */
#include <gyre/kernel.h>

#include "links.h"

/* ---- chains ---- */

/* A handler of some microseconds, so that orders of the host come in the middle of many messages. */
GYRE_HELPER void take_a_while(gyre_context *gyre, const GYRE_GLOBAL job *request)
{
    const u64 start = request->what == JOB_SLOW ? gyre_time_ns(gyre) : 0;
    while (request->what == JOB_SLOW && gyre_time_ns(gyre) - start < 10000)
        ;
}

#define JOB_PORTS(PORT) PORT(job, out, 1)
GYRE_PORTS(job_ports, JOB_PORTS)

GYRE_KERNEL_TO(pass, job, job, job_ports)
{
    if (request->what == JOB_FAIL)
        return gyre_fail(gyre, 5, "as told");
    if (request->what == JOB_DROP)
        return GYRE_NO_REPLY;
    take_a_while(gyre, request);
    GYRE_GLOBAL job *out = gyre_emit(gyre, out);
    *out = *request;
    out->hops++;
    out->sum += request->number;
    return GYRE_NO_REPLY;
}

#define PASSED(FIELD) FIELD(u64, count) FIELD(u64, last) FIELD(u64, disorder)
GYRE_MESSAGE(passed, PASSED)

/* Passes on one after the other, and counts what does not come in its order. */
GYRE_ACTOR_TO(pass_in_order, job, job, job_ports, passed)
{
    take_a_while(gyre, request);
    state->disorder += state->count != 0 && request->number != state->last + 1;
    state->count++;
    state->last = request->number;
    GYRE_GLOBAL job *out = gyre_emit(gyre, out);
    *out = *request;
    out->hops++;
    out->sum += request->number + (state->disorder << 32);
    return GYRE_NO_REPLY;
}

/* Stays for so many milliseconds when told to. */
GYRE_KERNEL(finish, job, job)
{
    const u64 start = request->what == JOB_SPIN ? gyre_time_ns(gyre) : 0;
    while (request->what == JOB_SPIN && gyre_time_ns(gyre) - start < request->number * 1000000)
        ;
    *reply = *request;
    reply->hops++;
    return GYRE_REPLY;
}

/* Tells what it sees of the header of the request that began the flow, and of the flow. */
GYRE_KERNEL(finish_headed, job, job)
{
    *reply = *request;
    reply->sum = gyre_header_id(gyre);
    reply->what = (u32)gyre_header_correlation(gyre);
    reply->hops = gyre_hop(gyre);
    reply->number = gyre_flow_id(gyre);
    return GYRE_REPLY;
}

/* Replies, and lets the flow go on. */
GYRE_KERNEL_TO(reply_and_pass, job, job, job_ports)
{
    *gyre_emit(gyre, out) = *request;
    *reply = *request;
    reply->hops = 1000;
    return GYRE_REPLY;
}

/* ---- bursts ---- */

#define BURST_PORTS(PORT) PORT(word, words, BURST_MOST)
GYRE_PORTS(burst_ports, BURST_PORTS)

GYRE_KERNEL_TO(split, burst, gyre_none, burst_ports)
{
    for (u32 i = 0; i < request->count && i < BURST_MOST; i++) {
        GYRE_GLOBAL word *out = gyre_emit(gyre, words);
        out->number = request->first + i;
        out->answered = i == request->answered;
    }
    if (request->fails)
        return gyre_fail(gyre, 6, "behind its words");
    return GYRE_NO_REPLY;
}

/* Emits more than it may, and says how many places it got. */
GYRE_KERNEL_TO(overdo, burst, word, burst_ports)
{
    u32 got = 0;
    for (u32 i = 0; i < request->count; i++) {
        GYRE_GLOBAL word *out = gyre_emit(gyre, words);
        if (!out)
            break;
        out->number = i;
        out->answered = 0;
        got++;
    }
    reply->number = got;
    return GYRE_REPLY;
}

/* Answers the word that says so, with how many it has seen. */
GYRE_ACTOR(count, word, seen, seen)
{
    state->count++;
    reply->count = state->count;
    return request->answered ? GYRE_REPLY : GYRE_NO_REPLY;
}

GYRE_KERNEL(answer_each, word, word)
{
    *reply = *request;
    return GYRE_REPLY;
}

/* Answers the word that says so, and fails one whose number says so. */
GYRE_KERNEL(judge, word, word)
{
    if (request->number == WORD_FAILS)
        return gyre_fail(gyre, 7, "the word that fails");
    *reply = *request;
    return request->answered ? GYRE_REPLY : GYRE_NO_REPLY;
}

/* Answers nothing, and fails a word whose number says so. */
GYRE_KERNEL(reject, word, gyre_none)
{
    return request->number == WORD_FAILS ? gyre_fail(gyre, 7, "the word that fails") : GYRE_NO_REPLY;
}

/* Lanes that share the work of one message, of which one emits what all found. */
#define SUMS(FIELD) FIELD(u64, parts[64])
GYRE_MESSAGE(sums, SUMS)

/* As answer_each, by the lanes of a block: there may be fewer of them than messages wait. */
GYRE_BLOCK_KERNEL(answer_by_lanes, word, word, gyre_none)
{
    if (gyre_lane(gyre) == 0)
        *reply = *request;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL_TO(split_by_lanes, burst, gyre_none, burst_ports, sums)
{
    const u32 lane = gyre_lane(gyre);
    if (lane < 64)
        scratch->parts[lane] = request->first + lane;
    gyre_barrier(gyre);
    if (lane == 0)
        for (u32 i = 0; i < request->count && i < BURST_MOST; i++) {
            GYRE_GLOBAL word *out = gyre_emit(gyre, words);
            out->number = (u32)scratch->parts[i];
            out->answered = i == request->answered;
        }
    return GYRE_NO_REPLY;
}

/* ---- large messages, and messages with tails ---- */

#define BLOB_PORTS(PORT) PORT(blob, out, 2)
GYRE_PORTS(blob_ports, BLOB_PORTS)

GYRE_KERNEL_TO(pass_blob, blob, gyre_none, blob_ports)
{
    *gyre_emit(gyre, out) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(turn_blob, blob, blob)
{
    reply->number = request->number;
    for (u32 i = 0; i < 8000; i++)
        reply->w[i] = ~request->w[i];
    return GYRE_REPLY;
}

#define NOTE_PORTS(PORT) PORT(note, out, 1)
GYRE_PORTS(note_ports, NOTE_PORTS)

GYRE_KERNEL_TO(pass_note, note, gyre_none, note_ports)
{
    GYRE_GLOBAL note *out = gyre_emit(gyre, out);
    out->number = request->number + 1;
    out->text = gyre_copy(gyre, u8, out, request, request->text);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(read_note, note, note)
{
    reply->number = request->number + 1;
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
    return GYRE_REPLY;
}

/* ---- random graphs ---- */

#define TOKEN_PORTS(PORT) PORT(token, left, TOKEN_MOST) PORT(token, right, TOKEN_MOST)
GYRE_PORTS(token_ports, TOKEN_PORTS)

GYRE_HELPER void send_tokens(gyre_context *gyre, token_ports *ports, const GYRE_GLOBAL token *request,
                             u32 node)
{
    const u32 left = token_count(request->seed, node, 0, request->depth);
    const u32 right = token_count(request->seed, node, 1, request->depth);
    for (u32 i = 0; i < left || i < right; i++) {
        if (i < left) {
            GYRE_GLOBAL token *out = gyre_emit(gyre, left);
            out->seed = token_seed(request->seed, node, 0, i);
            out->depth = request->depth + 1;
        }
        if (i < right) {
            GYRE_GLOBAL token *out = gyre_emit(gyre, right);
            out->seed = token_seed(request->seed, node, 1, i);
            out->depth = request->depth + 1;
        }
    }
}

#define NODE(name_, node_)                                                                                   \
    GYRE_KERNEL_TO(name_, token, token, token_ports)                                                         \
    {                                                                                                        \
        send_tokens(gyre, ports, request, node_);                                                            \
        if (token_fails(request->seed, node_))                                                               \
            return gyre_fail(gyre, TOKEN_FAILURE, "as its seed says");                                       \
        reply->seed = token_mix(request->seed, node_);                                                       \
        reply->depth = request->depth;                                                                       \
        reply->reserved = 0;                                                                                 \
        return token_replies(request->seed, node_) ? GYRE_REPLY : GYRE_NO_REPLY;                             \
    }
NODE(node0, 0)
NODE(node1, 1)
NODE(node2, 2)
NODE(node3, 3)
NODE(node4, 4)
NODE(node5, 5)
NODE(node6, 6)
NODE(node7, 7)
NODE(node8, 8)
NODE(node9, 9)
NODE(node10, 10)
NODE(node11, 11)
