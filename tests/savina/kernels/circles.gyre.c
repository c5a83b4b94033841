/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks whose messages go in circles: ping-pong, thread ring, chameneos. */
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

/* ---- chameneos: `size` creatures meet in a mall, `left` times ---- */

enum { COLORS = 3 };

#define CREATURES(FIELD)                                                                                     \
    FIELD(u32, color[128]) FIELD(u64, meetings[128]) FIELD(u32, size) FIELD(u32, gone) FIELD(u64, sum)
GYRE_MESSAGE(creatures_state, CREATURES)

#define CREATURES_PORTS(PORT) PORT(task, mall, CREATURES_MAX)
GYRE_PORTS(creatures_ports, CREATURES_PORTS)

/* number: the color of the other one. */
GYRE_ACTOR_TO(creatures, task, total, creatures_ports, creatures_state)
{
    if (request->what == SAVINA_GO) {
        if (request->size < 2 || request->size > CREATURES_MAX)
            return gyre_fail(gyre, 1, "so many creatures there are not");
        state->size = request->size;
        for (u32 i = 0; i < request->size; i++) {
            state->color[i] = i % COLORS;
            GYRE_GLOBAL task *out = gyre_emit(gyre, mall);
            *out = *request;
            out->from = i;
            out->number = state->color[i];
        }
        return GYRE_NO_REPLY;
    }
    if (request->who >= state->size)
        return gyre_fail(gyre, 2, "there is no such creature");
    const u32 who = request->who;
    if (request->what == SAVINA_PUT) {
        const u32 other = (u32)request->number;
        state->meetings[who]++;
        state->color[who] = state->color[who] == other ? other : COLORS - state->color[who] - other;
        GYRE_GLOBAL task *out = gyre_emit(gyre, mall);
        out->what = SAVINA_PUT;
        out->from = who;
        out->number = state->color[who];
        return GYRE_NO_REPLY;
    }
    state->sum += state->meetings[who];
    if (++state->gone < state->size)
        return GYRE_NO_REPLY;
    reply->count = state->sum;
    return GYRE_REPLY;
}

#define MALL(FIELD) FIELD(u64, left) FIELD(u32, is_waiting) FIELD(u32, first) FIELD(u64, color)
GYRE_MESSAGE(mall_state, MALL)

#define MALL_PORTS(PORT) PORT(task, creatures, 2)
GYRE_PORTS(mall_ports, MALL_PORTS)

GYRE_HELPER void tell_creature(GYRE_GLOBAL task *out, u32 what, u32 who, u64 color)
{
    out->what = what;
    out->who = who;
    out->number = color;
}

/* Has two creatures meet. When there are no more meetings, each one that comes is sent away. */
GYRE_ACTOR_TO(mall, task, gyre_none, mall_ports, mall_state)
{
    if (request->what == SAVINA_GO && request->from == 0)
        state->left = request->left;
    if (state->left == 0) {
        tell_creature(gyre_emit(gyre, creatures), SAVINA_END, request->from, 0);
        return GYRE_NO_REPLY;
    }
    if (!state->is_waiting) {
        state->is_waiting = 1;
        state->first = request->from;
        state->color = request->number;
        return GYRE_NO_REPLY;
    }
    state->is_waiting = 0;
    state->left--;
    tell_creature(gyre_emit(gyre, creatures), SAVINA_PUT, state->first, request->number);
    tell_creature(gyre_emit(gyre, creatures), SAVINA_PUT, request->from, state->color);
    return GYRE_NO_REPLY;
}
