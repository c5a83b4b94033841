/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks whose actors ask others: big, bank, logistic map, dictionary, philosophers. */
#include <gyre/kernel.h>

#include "random.h"

/* ---- big: each of `size` actors sends `left` pings to others, one after the other ---- */

#define BIG_STATE(FIELD)                                                                                     \
    FIELD(u64, random) FIELD(u64, pongs) FIELD(u64, all) FIELD(u32, size) FIELD(u64, left[128])
GYRE_MESSAGE(big_state, BIG_STATE)

#define BIG_PORTS(PORT, ASK) ASK(task, task, peers, BIG_ACTORS_MAX)
GYRE_PORTS_WITH_ASKS(big_ports, BIG_PORTS)

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

/* ---- bank: `left` transfers between `size` accounts, of which so many are under way at once ---- */

enum { TRANSFERS_AT_ONCE = 100 };

#define BANK_STATE(FIELD)                                                                                    \
    FIELD(u64, random)                                                                                       \
    FIELD(u64, to_begin) FIELD(u64, to_end) FIELD(u64, done) FIELD(u64, moved) FIELD(u32, size)
GYRE_MESSAGE(bank_state, BANK_STATE)

#define BANK_PORTS(PORT, ASK) ASK(task, task, accounts, TRANSFERS_AT_ONCE)
GYRE_PORTS_WITH_ASKS(bank_ports, BANK_PORTS)

/* The first half of a transfer: the account `who` pays, and `from` will get it. */
GYRE_HELPER void begin_transfer(GYRE_GLOBAL task *out, GYRE_GLOBAL bank_state *state)
{
    state->to_begin--;
    out->what = SAVINA_GET;
    out->who = next_random(&state->random) % state->size;
    out->from = (out->who + 1 + next_random(&state->random) % (state->size - 1)) % state->size;
    out->number = next_random(&state->random) % 1000;
}

GYRE_HELPER void second_half(GYRE_GLOBAL task *out, const GYRE_GLOBAL task *paid)
{
    out->what = SAVINA_PUT;
    out->who = paid->from;
    out->from = paid->who;
    out->number = paid->number;
}

GYRE_ACTOR_TO(teller, task, total, bank_ports, bank_state)
{
    if (gyre_token(gyre) == 0) {
        if (request->size < 2 || request->left == 0)
            return gyre_fail(gyre, 1, "a transfer takes two accounts");
        state->random = 1;
        state->to_begin = request->left;
        state->to_end = request->left;
        state->done = 0;
        state->moved = 0;
        state->size = request->size;
        for (u32 i = 0; i < TRANSFERS_AT_ONCE && state->to_begin; i++)
            begin_transfer(gyre_ask(gyre, accounts, 1), state);
        return GYRE_NO_REPLY;
    }
    if (request->what == SAVINA_GET) {
        second_half(gyre_ask(gyre, accounts, 1), request);
        return GYRE_NO_REPLY;
    }
    state->done++;
    state->moved += request->number;
    if (state->to_begin)
        begin_transfer(gyre_ask(gyre, accounts, 1), state);
    if (--state->to_end)
        return GYRE_NO_REPLY;
    reply->count = state->done;
    reply->sum = state->moved;
    return GYRE_REPLY;
}

/* count: how often it was used. sum: its cents, modulo 2^64. */
GYRE_KEYED_ACTOR(account, task, task, total, who)
{
    state->count++;
    state->sum = request->what == SAVINA_PUT ? state->sum + request->number : state->sum - request->number;
    *reply = *request;
    return GYRE_REPLY;
}

/* ---- logistic map: each series asks its own rate for `left` terms ---- */

#define NEXT_PORTS(PORT) PORT(task, next, 1)
GYRE_PORTS(next_ports, NEXT_PORTS)

GYRE_KERNEL_TO(logistic, task, gyre_none, next_ports)
{
    *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}

#define SERIES_PORTS(PORT, ASK) ASK(task, task, rate, 1) PORT(task, last, 1)
GYRE_PORTS_WITH_ASKS(series_ports, SERIES_PORTS)

/* State: sum is the number of the series, count the terms that are left, value the term. */
GYRE_ACTOR_TO(series, task, gyre_none, series_ports, total)
{
    if (gyre_token(gyre) == 0)
        state->count = request->left;
    else
        state->value = request->value;
    if (state->count > 0) {
        state->count--;
        gyre_ask(gyre, rate, 1)->value = state->value;
        return GYRE_NO_REPLY;
    }
    GYRE_GLOBAL task *out = gyre_emit(gyre, last);
    out->who = (u32)state->sum;
    out->value = state->value;
    return GYRE_NO_REPLY;
}

/* State: value is the rate. */
GYRE_ACTOR(rate, task, task, total)
{
    reply->value = state->value * request->value * (1 - request->value);
    return GYRE_REPLY;
}

#define TERMS(FIELD) FIELD(f64, value[10]) FIELD(u32, count)
GYRE_MESSAGE(terms, TERMS)

/* Adds the last terms in the order of their series, so that the sum is the same to the last bit. */
GYRE_ACTOR(add_terms, task, total, terms)
{
    if (request->who >= 10)
        return gyre_fail(gyre, 1, "there is no such series");
    state->value[request->who] = request->value;
    if (++state->count < 10)
        return GYRE_NO_REPLY;
    for (u32 i = 0; i < 10; i++)
        reply->value += state->value[i];
    reply->count = state->count;
    state->count = 0;
    return GYRE_REPLY;
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
