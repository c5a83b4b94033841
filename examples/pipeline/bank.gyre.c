/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts that pay each other: a keyed actor that sends to itself, from key to key. */
#include <gyre/kernel.h>

#include "bank.h"

#define BANK_PORTS(PORT) PORT(payment, payments, 1)
GYRE_PORTS(bank_ports, BANK_PORTS)

GYRE_KEYED_ACTOR_TO(accounts, payment, account, bank_ports, account, account)
{
    const i64 change = request->payee ? -request->cents : request->cents;
    if (state->cents + change < 0)
        return gyre_fail(gyre, 1, "overdrawn");
    state->cents += change;
    state->payments++;
    *reply = *state;
    if (request->payee == 0)
        return GYRE_REPLY;
    GYRE_GLOBAL payment *out = gyre_emit(gyre, payments);
    out->account = request->payee;
    out->payee = 0;
    out->cents = request->cents;
    return GYRE_NO_REPLY;
}
