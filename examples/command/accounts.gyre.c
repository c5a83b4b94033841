/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor: a state for each account, and the messages of an account one after the other. */
#include <gyre/kernel.h>

#define DEPOSIT(FIELD) FIELD(u64, account) FIELD(i64, cents)
GYRE_MESSAGE(deposit, DEPOSIT)

#define BALANCE(FIELD) FIELD(i64, cents) FIELD(u64, deposits)
GYRE_MESSAGE(balance, BALANCE)

GYRE_KEYED_ACTOR(accounts, deposit, balance, balance, account)
{
    if (state->cents + request->cents < 0)
        return gyre_fail(gyre, 1, "overdrawn");
    state->cents += request->cents;
    state->deposits++;
    *reply = *state;
    return GYRE_REPLY;
}
