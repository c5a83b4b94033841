/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that moves money between accounts of a table in its state. */
#include <gyre/kernel.h>

#define MOVE(FIELD) FIELD(u32, from) FIELD(u32, to) FIELD(u64, cents)
GYRE_MESSAGE(move, MOVE)
#define MOVED(FIELD) FIELD(u64, from_left) FIELD(u64, to_left)
GYRE_MESSAGE(moved, MOVED)
#define ACCOUNT(FIELD) FIELD(u64, cents) FIELD(u32, moves) FIELD(u32, flags)
GYRE_MESSAGE(account, ACCOUNT)
#define ACCOUNTS(FIELD) FIELD(account, accounts[256]) FIELD(u64, total)
GYRE_MESSAGE(accounts, ACCOUNTS)

GYRE_ACTOR(bank, move, moved, accounts)
{
    GYRE_GLOBAL account *from = &state->accounts[request->from % 256u],
                        *to = &state->accounts[request->to % 256u];
    from->cents -= request->cents;
    from->moves++;
    to->cents += request->cents;
    to->moves++;
    state->total += request->cents;
    reply->from_left = from->cents;
    reply->to_left = to->cents;
    return GYRE_REPLY;
}
