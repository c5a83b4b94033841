/* SPDX-License-Identifier: Apache-2.0 */
/* A handler for each type of a protocol; they share the actor's state. */
#include <gyre/kernel.h>
#include "desk.h"

GYRE_ACTOR_OF(desk, DESK, ledger)

GYRE_HANDLER(desk, deposit, balance)
{
    if (request->account >= 4)
        return gyre_fail(gyre, 1, "no such account");
    state->cents[request->account] += request->cents;
    reply->cents = state->cents[request->account];
    reply->deposits = ++state->deposits[request->account];
    return GYRE_REPLY;
}

GYRE_QUERY(desk, memo, memo_seen)
{
    const GYRE_GLOBAL u32 *accounts = gyre_items(u32, request, request->accounts);
    reply->cents = gyre_new(gyre, i64, reply, request->accounts.count);
    for (u32 i = 0; i < reply->cents.count; i++)
        gyre_set(gyre, i64, reply, reply->cents, i, state->cents[accounts[i] & 3]);
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
    return GYRE_REPLY;
}

GYRE_HANDLER(desk, bell, gyre_none)
{
    state->bells += request->time;
    return GYRE_NO_REPLY;
}

/* The last digit makes the sum of all, every second one doubled, a multiple of ten (Luhn). */
GYRE_QUERY(desk, card, card_check)
{
    u32 sum = 0;
    for (u32 i = 0; i < 16; i++) {
        const u32 doubled = request->digits[i] % 10u * (i % 2 == 0 ? 2u : 1u);
        sum += doubled > 9 ? doubled - 9 : doubled;
    }
    reply->type = request->type;
    reply->valid = sum % 10 == 0;
    reply->bells = state->bells;
    return GYRE_REPLY;
}
