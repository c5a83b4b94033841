/* SPDX-License-Identifier: Apache-2.0 */
/* The state has other names, and the file says how they come about. */
#include <gyre/kernel.h>
#include "ledger.h"

#define TOTALS(IN, INOUT) INOUT(u64, totals)
GYRE_BUFFERS(ledger_buffers, TOTALS)

#define FORMER(FIELD) FIELD(u64, count) FIELD(u64, sum)
GYRE_MESSAGE(former_state, FORMER)
#define LEDGER(FIELD) FIELD(u64, entries) FIELD(u64, tenfold)
GYRE_MESSAGE(ledger_state, LEDGER)

GYRE_MIGRATE(former_state, ledger_state)
{
    state->entries = before->count;
    state->tenfold = before->sum * 10;
}

GYRE_ACTOR_WITH(ledger, entry, receipt, ledger_state, ledger_buffers)
{
    reply->count = ++state->entries;
    state->tenfold += request->add * 10;
    reply->sum = state->tenfold / 10;
    buffers->totals[0] += request->add;
    reply->add = request->add * 4;
    reply->version = 4;
    return GYRE_REPLY;
}
