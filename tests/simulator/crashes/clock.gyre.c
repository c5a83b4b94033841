/* SPDX-License-Identifier: Apache-2.0 */
/* The state depends on when a request is handled, and that is later when it is handled again.
 * call: --check crash --seeds 6
 * request: {"amount":3}
 * request: {"amount":5}
 * request: {"amount":7}
 * request: {"amount":9}
 * says: with seed 2: balance: expected
 * says: has another 'balance' in its reply
 * shrinks: yes
 */
#include <gyre/kernel.h>

#define DEPOSIT(FIELD) FIELD(u32, amount)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(u64, balance)
GYRE_MESSAGE(balance, BALANCE)
#define ACCOUNT(FIELD) FIELD(u64, balance) FIELD(u64, interest)
GYRE_MESSAGE(account, ACCOUNT)

GYRE_ACTOR(clock, deposit, balance, account)
{
#ifdef MENDED
    const u64 seconds = 1000;
#else
    const u64 seconds = gyre_time_ns(gyre) / 1000000000u;
#endif
    state->interest += seconds;
    state->balance += request->amount;
    reply->balance = state->balance + state->interest;
    return GYRE_REPLY;
}
