/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service: all of its server. What it keeps is in a journal, by the settings in gyre.ini beside it:
 *
 *     gyre serve --config examples/service/gyre.ini examples/service/ledger.gyre.c
 */
#include <gyre/kernel.h>
#include "ledger.h"

GYRE_ACTOR(ledger, ledger_deposit, ledger_balance, ledger_books)
{
    if (request->account >= LEDGER_ACCOUNTS)
        return gyre_fail(gyre, 1, "no such account");
    GYRE_GLOBAL ledger_balance *account = &state->accounts[request->account];
    account->cents += request->cents;
    account->deposits++;
    *reply = *account;
    return GYRE_REPLY;
}
