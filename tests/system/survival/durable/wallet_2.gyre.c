/* SPDX-License-Identifier: Apache-2.0 */
/* The wallet of docs/kernels.md: it keeps cents, and what its first version kept is migrated. */
#include <gyre/kernel.h>

#define DEPOSIT(FIELD) FIELD(u64, euros)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(u64, cents)
GYRE_MESSAGE(balance, BALANCE)

#define WALLET_V1(FIELD) FIELD(u64, euros) FIELD(u32, deposits)
GYRE_MESSAGE(wallet_v1, WALLET_V1)
#define WALLET(FIELD) FIELD(u64, cents) FIELD(u32, deposits) FIELD(u32, limit)
GYRE_MESSAGE(wallet_state, WALLET)

GYRE_MIGRATE(wallet_v1, wallet_state)
{
    state->cents = before->euros * 100;
    state->deposits = before->deposits;
}

GYRE_ACTOR(wallet, deposit, balance, wallet_state)
{
    state->deposits++;
    state->cents += 100 * request->euros;
    reply->cents = state->cents;
    return GYRE_REPLY;
}
