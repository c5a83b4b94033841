/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks of messages alone: ping-pong, counting, fork-join, thread ring, big. */
#include <gyre/kernel.h>

#include "../savina.h"

#define PASS_PORTS(PORT) PORT(task, next, 1)
GYRE_PORTS(pass_ports, PASS_PORTS)

/* ---- ping-pong: `left` balls go to pong and come back ---- */

GYRE_ACTOR_TO(ping, task, total, pass_ports, total)
{
    if (request->what == SAVINA_GO)
        state->count = 0;
    else
        state->count++;
    if (request->left == 0) {
        reply->count = state->count;
        reply->sum = request->number;
        return GYRE_REPLY;
    }
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    *out = *request;
    out->left--;
    return GYRE_NO_REPLY;
}

GYRE_ACTOR_TO(pong, task, gyre_none, pass_ports, total)
{
    state->count++;
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    *out = *request;
    out->what = SAVINA_PUT;
    out->number++;
    return GYRE_NO_REPLY;
}

/* ---- counting: `left` increments, and then the question how many there were ---- */

enum { COUNTS_A_CALL = 64 };

#define COUNT_PORTS(PORT) PORT(task, counts, COUNTS_A_CALL)
GYRE_PORTS(count_ports, COUNT_PORTS)

GYRE_ACTOR_TO(produce, task, gyre_none, count_ports, gyre_none)
{
    const u64 first = (u64)gyre_turn(gyre) * COUNTS_A_CALL;
    for (u64 i = first; i < first + COUNTS_A_CALL && i <= request->left; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, counts);
        out->what = i == request->left ? SAVINA_TELL : SAVINA_PUT;
        out->number = i;
    }
    return first + COUNTS_A_CALL <= request->left ? GYRE_MORE : GYRE_NO_REPLY;
}

/* Adds numbers. Tells whoever asks what they come to, and begins anew. */
GYRE_ACTOR(add, task, total, total)
{
    if (request->what == SAVINA_TELL) {
        *reply = *state;
        state->count = 0;
        state->sum = 0;
        state->value = 0;
        return GYRE_REPLY;
    }
    state->count++;
    state->sum += request->number;
    state->value += request->value;
    return GYRE_NO_REPLY;
}

/* ---- fork-join: each of `left` messages to all workers, which are the subscribers of a topic ---- */

GYRE_ACTOR_TO(work, task, gyre_none, pass_ports, total)
{
    const f64 sine = sin(37.2);
    state->count++;
    state->value += sine * sine;
    if (request->what != SAVINA_TELL)
        return GYRE_NO_REPLY;
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    out->what = SAVINA_PUT;
    out->number = state->count;
    out->value = state->value;
    out->size = request->size;
    state->count = 0;
    state->value = 0;
    return GYRE_NO_REPLY;
}

GYRE_ACTOR_TO(fork, task, gyre_none, count_ports, gyre_none)
{
    const u64 first = (u64)gyre_turn(gyre) * COUNTS_A_CALL;
    for (u64 i = first; i < first + COUNTS_A_CALL && i < request->left; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, counts);
        out->what = i + 1 == request->left ? SAVINA_TELL : SAVINA_PUT;
        out->size = request->size;
    }
    return first + COUNTS_A_CALL < request->left ? GYRE_MORE : GYRE_NO_REPLY;
}

/* Answers when all of `size` workers have told what they did. */
GYRE_ACTOR(join, task, total, total)
{
    state->count++;
    state->sum += request->number;
    state->value += request->value;
    if (state->count < request->size)
        return GYRE_NO_REPLY;
    *reply = *state;
    state->count = 0;
    state->sum = 0;
    state->value = 0;
    return GYRE_REPLY;
}

/* ---- thread ring: a token goes round, `left` hops. Each kernel is every so manieth of the actors ---- */

#define RING_STATE(FIELD) FIELD(u64, hops[100])
GYRE_MESSAGE(ring_state, RING_STATE)

GYRE_ACTOR_TO(ring, task, total, pass_ports, ring_state)
{
    if (request->who >= RING_ACTORS)
        return gyre_fail(gyre, 1, "there is no such actor");
    if (request->left == 0) {
        reply->count = request->number;
        reply->sum = state->hops[request->who];
        return GYRE_REPLY;
    }
    state->hops[request->who]++;
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    *out = *request;
    out->left--;
    out->number++;
    out->who = (request->who + 1) % RING_ACTORS;
    return GYRE_NO_REPLY;
}

/* ---- big: each of `size` actors sends `left` pings to others, one after the other ---- */

#define BIG_STATE(FIELD)                                                                                     \
    FIELD(u64, random) FIELD(u64, pongs) FIELD(u64, all) FIELD(u32, size) FIELD(u64, left[128])
GYRE_MESSAGE(big_state, BIG_STATE)

#define BIG_PORTS(PORT, ASK) ASK(task, task, peers, BIG_ACTORS_MAX)
GYRE_PORTS_WITH_ASKS(big_ports, BIG_PORTS)

GYRE_HELPER u32 next_random(GYRE_GLOBAL u64 *random)
{
    *random = savina_random(*random);
    return (u32)(*random >> 33);
}

/* The actor `from` pings another one. */
GYRE_HELPER void fill_ping(GYRE_GLOBAL task *out, GYRE_GLOBAL big_state *state, u32 from)
{
    state->left[from]--;
    out->what = SAVINA_PUT;
    out->from = from;
    out->who = next_random(&state->random) % state->size;
}

GYRE_HELPER void begin_big(GYRE_GLOBAL big_state *state, u32 size, u64 pings)
{
    state->random = 1;
    state->size = size;
    state->pongs = 0;
    state->all = pings * size;
    for (u32 i = 0; i < size; i++)
        state->left[i] = pings;
}

GYRE_ACTOR_TO(big, task, total, big_ports, big_state)
{
    if (gyre_token(gyre) == 0) {
        if (request->size == 0 || request->size > BIG_ACTORS_MAX || request->left == 0)
            return gyre_fail(gyre, 1, "so many actors there are not");
        begin_big(state, request->size, request->left);
        for (u32 i = 0; i < request->size; i++)
            fill_ping(gyre_ask(gyre, peers, i + 1), state, i);
        return GYRE_NO_REPLY;
    }
    const u32 from = (u32)gyre_token(gyre) - 1;
    state->pongs++;
    if (state->left[from])
        fill_ping(gyre_ask(gyre, peers, from + 1), state, from);
    if (state->pongs < state->all)
        return GYRE_NO_REPLY;
    reply->count = state->pongs;
    return GYRE_REPLY;
}

/* The actors that are pinged: a key each. */
GYRE_KEYED_ACTOR(peer, task, task, total, who)
{
    state->count++;
    *reply = *request;
    reply->number = state->count;
    return GYRE_REPLY;
}
