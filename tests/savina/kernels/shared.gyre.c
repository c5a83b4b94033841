/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks of things that actors share: chameneos, dictionary, philosophers. */
#include <gyre/kernel.h>

#include "../savina.h"

GYRE_HELPER u32 next_random(GYRE_GLOBAL u64 *random)
{
    *random = savina_random(*random);
    return (u32)(*random >> 33);
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

/* ---- dictionary: `size` workers with `left` messages each, of which every tenth writes; the words are keys ---- */

enum { WORKERS_MAX = 32, WORDS = 512 };

#define WORKERS(FIELD) FIELD(u64, random) FIELD(u64, all) FIELD(u64, writes) FIELD(u64, left[32])
GYRE_MESSAGE(workers_state, WORKERS)

#define WORKERS_PORTS(PORT, ASK) ASK(task, task, words, WORKERS_MAX)
GYRE_PORTS_WITH_ASKS(workers_ports, WORKERS_PORTS)

GYRE_HELPER void ask_word(GYRE_GLOBAL task *out, GYRE_GLOBAL workers_state *state, u32 worker)
{
    const u32 random = next_random(&state->random);
    state->left[worker]--;
    out->who = random % WORDS;
    out->what = random / WORDS % 10 ? SAVINA_GET : SAVINA_PUT;
    out->number = (u64)out->who * 7 + 1;
    state->writes += out->what == SAVINA_PUT;
}

GYRE_ACTOR_TO(workers, task, total, workers_ports, workers_state)
{
    if (gyre_token(gyre) == 0) {
        if (request->size == 0 || request->size > WORKERS_MAX || request->left == 0)
            return gyre_fail(gyre, 1, "so many workers there are not");
        state->random = 1;
        state->all = request->size * request->left;
        state->writes = 0;
        for (u32 i = 0; i < request->size; i++) {
            state->left[i] = request->left;
            ask_word(gyre_ask(gyre, words, i + 1), state, i);
        }
        return GYRE_NO_REPLY;
    }
    const u32 worker = (u32)gyre_token(gyre) - 1;
    if (request->number != 0 && request->number != (u64)request->who * 7 + 1)
        return gyre_fail(gyre, 2, "a word has the value of another one");
    if (state->left[worker])
        ask_word(gyre_ask(gyre, words, worker + 1), state, worker);
    if (--state->all)
        return GYRE_NO_REPLY;
    reply->count = state->writes;
    return GYRE_REPLY;
}

/* value: 0, or what was written last. */
#define WORD(FIELD) FIELD(u64, uses) FIELD(u64, writes) FIELD(u64, value)
GYRE_MESSAGE(word_state, WORD)

GYRE_KEYED_ACTOR(words, task, task, word_state, who)
{
    state->uses++;
    if (request->what == SAVINA_PUT) {
        state->writes++;
        state->value = request->number;
    }
    *reply = *request;
    reply->number = state->value;
    return GYRE_REPLY;
}

/* ---- philosophers: `size` of them eat `left` times each, with two forks that the table lends ---- */

enum { PHILOSOPHERS_MAX = 32 };

#define PHILOSOPHERS(FIELD) FIELD(u64, eating) FIELD(u64, eaten) FIELD(u64, left[32])
GYRE_MESSAGE(philosophers_state, PHILOSOPHERS)

#define PHILOSOPHERS_PORTS(PORT, ASK) ASK(task, task, table, PHILOSOPHERS_MAX)
GYRE_PORTS_WITH_ASKS(philosophers_ports, PHILOSOPHERS_PORTS)

GYRE_HELPER void ask_table(GYRE_GLOBAL task *out, u32 what, u32 who, u32 size)
{
    out->what = what;
    out->who = who;
    out->size = size;
}

/* A philosopher who got no forks asks again, as one who has eaten and returned them does. */
GYRE_ACTOR_TO(philosophers, task, total, philosophers_ports, philosophers_state)
{
    if (gyre_token(gyre) == 0) {
        if (request->size < 2 || request->size > PHILOSOPHERS_MAX || request->left == 0)
            return gyre_fail(gyre, 1, "so many philosophers there are not");
        state->eating = request->size;
        state->eaten = 0;
        for (u32 i = 0; i < request->size; i++) {
            state->left[i] = request->left;
            ask_table(gyre_ask(gyre, table, i + 1), SAVINA_GET, i, request->size);
        }
        return GYRE_NO_REPLY;
    }
    const u32 who = (u32)gyre_token(gyre) - 1;
    if (request->what == SAVINA_GET) {
        state->eaten++;
        state->left[who]--;
        ask_table(gyre_ask(gyre, table, who + 1), SAVINA_PUT, who, request->size);
    } else if (state->left[who])
        ask_table(gyre_ask(gyre, table, who + 1), SAVINA_GET, who, request->size);
    else if (--state->eating == 0) {
        reply->count = state->eaten;
        return GYRE_REPLY;
    }
    return GYRE_NO_REPLY;
}

#define TABLE(FIELD) FIELD(u32, is_taken[32])
GYRE_MESSAGE(table_state, TABLE)

GYRE_ACTOR(table, task, task, table_state)
{
    if (request->size > PHILOSOPHERS_MAX || request->who >= request->size)
        return gyre_fail(gyre, 1, "there is no such philosopher");
    const u32 left = request->who, right = (left + 1) % request->size;
    *reply = *request;
    if (request->what == SAVINA_PUT) {
        if (!state->is_taken[left] || !state->is_taken[right])
            return gyre_fail(gyre, 2, "a fork comes back that nobody has");
        state->is_taken[left] = 0;
        state->is_taken[right] = 0;
    } else if (state->is_taken[left] || state->is_taken[right])
        reply->what = SAVINA_NO;
    else {
        state->is_taken[left] = 1;
        state->is_taken[right] = 1;
    }
    return GYRE_REPLY;
}
