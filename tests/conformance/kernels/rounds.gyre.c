/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a pipeline with rounds: a round is handled when its messages, which go different ways, have all been counted. */
#include <gyre/kernel.h>

#include "rounds.h"

#define START_PORTS(PORT) PORT(step, steps, STEP_MOST)
GYRE_PORTS(start_ports, START_PORTS)

/* Begins the first round: no message knows how many others there are. */
GYRE_KERNEL_TO(start, step, gyre_none, start_ports)
{
    if (request->what == STEP_FAILS && request->rounds == 0)
        return gyre_fail(gyre, 9, "as told");
    for (u32 i = 0; i < STEP_WIDTH(0) && request->rounds; i++) {
        GYRE_GLOBAL step *out = gyre_emit(gyre, steps);
        *out = *request;
        out->left = i % 4;
    }
    return GYRE_NO_REPLY;
}

#define RELAY_PORTS(PORT) PORT(step, on, 1) PORT(step, done, 2)
GYRE_PORTS(relay_ports, RELAY_PORTS)

/* Sends a message round a few times, or on. */
GYRE_KERNEL_TO(relay, step, gyre_none, relay_ports)
{
    if (request->what == STEP_FAILS && request->round + 1 == request->rounds && request->left == 0)
        return gyre_fail(gyre, 9, "as told");
    GYRE_GLOBAL step *out = request->left ? gyre_emit(gyre, on) : gyre_emit(gyre, done);
    *out = *request;
    if (request->left)
        out->left--;
    return GYRE_NO_REPLY;
}

struct tally {
    u64 seen, total;
    u32 number, rounds, what;
};
GYRE_FLOW(gather, struct tally)

#define GATHER_PORTS(PORT) PORT(step, steps, STEP_MOST)
GYRE_PORTS(gather_ports, GATHER_PORTS)

GYRE_HELPER void send_step(GYRE_GLOBAL step *out, const GYRE_GLOBAL struct tally *flow, u32 round, u32 number)
{
    out->number = flow->number;
    out->total = 0;
    out->rounds = flow->rounds;
    out->left = (round + number) % 4;
    out->what = flow->what;
    out->round = round;
}

/* Counts messages. Begins a round when, as it hopes, all of the last one were counted, and answers behind the last one. */
GYRE_KERNEL_TO(gather, step, step, gather_ports)
{
    GYRE_GLOBAL struct tally *flow = gyre_flow(gyre, gather);
    const u32 round = gyre_round(gyre);
    if (!round) {
        gyre_atomic_max(&flow->number, (u32)request->number);
        gyre_atomic_max(&flow->rounds, request->rounds);
        gyre_atomic_max(&flow->what, request->what);
        gyre_atomic_add(&flow->seen, (u64)1);
        return GYRE_NO_REPLY;
    }
    if (request->number || request->rounds || request->what || request->left || request->round)
        return gyre_fail(gyre, 7, "what begins a round is not zero");
    const u32 turn = flow->what == STEP_BY_TURNS ? gyre_turn(gyre) : 0;
    if (turn == 0) {
        if (flow->seen != (u64)STEP_WIDTH(round - 1))
            return gyre_fail(gyre, 8, "a round began before all messages of the last one were handled");
        flow->total += flow->seen;
        flow->seen = 0;
    }
    if (round == flow->rounds) {
        if (flow->what == STEP_SILENT)
            return GYRE_NO_REPLY;
        reply->number = flow->number;
        reply->total = flow->total;
        reply->round = round;
        return GYRE_REPLY;
    }
    const u32 width = STEP_WIDTH(round), end = flow->what == STEP_BY_TURNS ? turn + 1 : width;
    for (u32 i = turn; i < end; i++)
        send_step(gyre_emit(gyre, steps), flow, round, i);
    return end < width ? GYRE_MORE : GYRE_NO_REPLY;
}

#define NOTE_PORTS(PORT) PORT(step_note, notes, 1)
GYRE_PORTS(note_ports, NOTE_PORTS)

GYRE_KERNEL_TO(note, step, gyre_none, note_ports)
{
    gyre_emit(gyre, notes);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(read_note, step_note, step)
{
    reply->number = request->number;
    return GYRE_REPLY;
}

#define CURIOUS_PORTS(PORT, ASK) ASK(step, step, other, 1)
GYRE_PORTS_WITH_ASKS(curious_ports, CURIOUS_PORTS)

GYRE_KERNEL_TO(curious, step, step, curious_ports)
{
    if (!gyre_token(gyre))
        *gyre_ask(gyre, other, 1) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(other, step, step)
{
    *reply = *request;
    return GYRE_REPLY;
}

#define POLL_PORTS(PORT) PORT(step, steps, 1)
GYRE_PORTS(poll_ports, POLL_PORTS)

/* Each round is one message, to somebody who asks. */
GYRE_KERNEL_TO(poll, step, step, poll_ports)
{
    reply->round = gyre_round(gyre);
    if (reply->round == STEP_POLLS)
        return GYRE_REPLY;
    GYRE_GLOBAL step *out = gyre_emit(gyre, steps);
    out->round = reply->round;
    return GYRE_NO_REPLY;
}
