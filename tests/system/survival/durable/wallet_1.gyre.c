/* SPDX-License-Identifier: Apache-2.0 */
/* A wallet as its first version kept it: in euros. */
#include <gyre/kernel.h>

#define DEPOSIT(FIELD) FIELD(u64, euros)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(u64, cents)
GYRE_MESSAGE(balance, BALANCE)
#define WALLET(FIELD) FIELD(u64, euros) FIELD(u32, deposits)
GYRE_MESSAGE(wallet_state, WALLET)

GYRE_ACTOR(wallet, deposit, balance, wallet_state)
{
    state->deposits++;
    state->euros += request->euros;
    reply->cents = 100 * state->euros;
    return GYRE_REPLY;
}
