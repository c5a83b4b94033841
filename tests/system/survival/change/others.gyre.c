/* SPDX-License-Identifier: Apache-2.0 */
/* Refused: each has something else than the ledger. */
#include <gyre/kernel.h>
#include "ledger.h"

#define TOTALS(IN, INOUT) INOUT(u64, totals)
GYRE_BUFFERS(ledger_buffers, TOTALS)

#define LEDGER(FIELD) FIELD(u64, count) FIELD(u64, sum)
GYRE_MESSAGE(ledger_state, LEDGER)
#define LONG_ENTRY(FIELD) FIELD(u64, add) FIELD(u64, more)
GYRE_MESSAGE(long_entry, LONG_ENTRY)

GYRE_ACTOR_WITH(longer, long_entry, receipt, ledger_state, ledger_buffers)
{
    buffers->totals[0] += request->add;
    reply->count = ++state->count;
    return GYRE_REPLY;
}

GYRE_ACTOR_WITH(answer, entry, long_entry, ledger_state, ledger_buffers)
{
    buffers->totals[0] += request->add;
    reply->add = ++state->count;
    return GYRE_REPLY;
}

GYRE_KERNEL_WITH(lanes, entry, receipt, ledger_state, ledger_buffers)
{
    gyre_atomic_add(&buffers->totals[0], request->add);
    reply->count = gyre_atomic_add(&state->count, (u64)1);
    return GYRE_REPLY;
}

GYRE_ACTOR(bufferless, entry, receipt, ledger_state)
{
    reply->count = ++state->count;
    reply->sum = request->add;
    return GYRE_REPLY;
}
