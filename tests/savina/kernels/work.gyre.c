/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks that compute or keep something: bank, sieve. */
#include <gyre/kernel.h>

#include "../savina.h"

/* ---- bank: `left` transfers between `size` accounts, of which so many are under way at once ---- */

enum { TRANSFERS_AT_ONCE = 100 };

#define BANK_STATE(FIELD)                                                                                    \
    FIELD(u64, random)                                                                                       \
    FIELD(u64, to_begin) FIELD(u64, to_end) FIELD(u64, done) FIELD(u64, moved) FIELD(u32, size)
GYRE_MESSAGE(bank_state, BANK_STATE)

#define BANK_PORTS(PORT, ASK) ASK(task, task, accounts, TRANSFERS_AT_ONCE)
GYRE_PORTS_WITH_ASKS(bank_ports, BANK_PORTS)

GYRE_HELPER u32 next_random(GYRE_GLOBAL u64 *random)
{
    *random = savina_random(*random);
    return (u32)(*random >> 33);
}

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

/* ---- sieve: odd numbers below `left` through filters that each keep a thousand primes ---- */

enum { NUMBERS_A_CALL = 64 };

#define SIEVE_SOURCE_PORTS(PORT) PORT(task, numbers, NUMBERS_A_CALL)
GYRE_PORTS(sieve_source_ports, SIEVE_SOURCE_PORTS)

GYRE_ACTOR_TO(sieve_source, task, gyre_none, sieve_source_ports, gyre_none)
{
    const u64 first = 3 + (u64)gyre_turn(gyre) * 2 * (NUMBERS_A_CALL - 1);
    u64 number = first;
    for (; number < first + (u64)2 * (NUMBERS_A_CALL - 1) && number < request->left; number += 2) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, numbers);
        out->what = SAVINA_PUT;
        out->number = number;
    }
    if (number < request->left)
        return GYRE_MORE;
    GYRE_GLOBAL task *end = gyre_emit(gyre, numbers);
    end->what = SAVINA_END;
    end->number = 1; /* the prime 2 */
    return GYRE_NO_REPLY;
}

#define FILTER_STATE(FIELD) FIELD(u32, count) FIELD(u32, primes[1000])
GYRE_MESSAGE(filter_state, FILTER_STATE)

#define FILTER_PORTS(PORT) PORT(task, next, 1)
GYRE_PORTS(filter_ports, FILTER_PORTS)

/* Keeps the first primes that come, and passes on what none of them divides. The end collects how many there were. */
GYRE_ACTOR_TO(filter, task, gyre_none, filter_ports, filter_state)
{
    if (request->what == SAVINA_END) {
        GYRE_GLOBAL task *end = gyre_emit(gyre, next);
        *end = *request;
        end->number += state->count;
        state->count = 0;
        return GYRE_NO_REPLY;
    }
    const u32 number = (u32)request->number;
    for (u32 i = 0; i < state->count; i++)
        if (number % state->primes[i] == 0)
            return GYRE_NO_REPLY;
    if (state->count < PRIMES_A_FILTER)
        state->primes[state->count++] = number;
    else
        *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(sieve_end, task, total)
{
    if (request->what != SAVINA_END)
        return gyre_fail(gyre, 1, "more primes than the filters keep");
    reply->count = request->number;
    return GYRE_REPLY;
}
