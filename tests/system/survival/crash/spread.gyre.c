/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts by key; one request takes the device's process down. */
#include <gyre/kernel.h>
#include "spread.h"

#define KEPT(FIELD) FIELD(u64, cents)
GYRE_MESSAGE(kept, KEPT)

GYRE_KEYED_ACTOR(accounts, deposit, balance, kept, account)
{
    if (request->crashes)
        *(volatile u32 *)0 = 1;
    state->cents += request->cents;
    reply->account = request->account;
    reply->cents = state->cents;
    return GYRE_REPLY;
}
