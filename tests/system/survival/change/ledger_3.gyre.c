/* SPDX-License-Identifier: Apache-2.0 */
/* The state has one more field. */
#include <gyre/kernel.h>
#include "ledger.h"

#define TOTALS(IN, INOUT) INOUT(u64, totals)
GYRE_BUFFERS(ledger_buffers, TOTALS)

#define LEDGER(FIELD) FIELD(u64, count) FIELD(u64, sum) FIELD(u64, later)
GYRE_MESSAGE(ledger_state, LEDGER)

GYRE_ACTOR_WITH(ledger, entry, receipt, ledger_state, ledger_buffers)
{
    reply->count = ++state->count;
    reply->sum = state->sum += request->add;
    buffers->totals[0] += request->add;
    state->later++;
    reply->add = request->add * 3;
    reply->version = 3;
    return GYRE_REPLY;
}
