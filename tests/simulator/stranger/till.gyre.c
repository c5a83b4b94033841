/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that takes several types of messages, and a question among them: one state, one message after the other.
 *
 * expects: nothing
 * check: races,memory,deadlock,order
 * request: {"type":"paid","cents":100}
 * request: {"type":"asked","unused":0}
 * request: {"type":"paid","cents":50}
 * request: {"type":"asked","unused":0} */
#include <gyre/kernel.h>

#define PAID(FIELD) FIELD(u32, cents)
GYRE_MESSAGE(paid, PAID)
#define ASKED(FIELD) FIELD(u32, unused)
GYRE_MESSAGE(asked, ASKED)
#define BALANCE(FIELD) FIELD(u32, cents) FIELD(u32, payments)
GYRE_MESSAGE(balance, BALANCE)
#define TILL(TAKES) TAKES(paid, balance) TAKES(asked, balance)
GYRE_PROTOCOL(till, TILL)

GYRE_ACTOR_OF(till, TILL, balance)

GYRE_HANDLER(till, paid, balance)
{
    state->cents += request->cents;
    state->payments++;
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_QUERY(till, asked, balance)
{
    *reply = *state;
    return GYRE_REPLY;
}
