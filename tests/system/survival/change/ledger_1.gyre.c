/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger as it is launched. */
#include <gyre/kernel.h>
#include "ledger.h"

#define TOTALS(IN, INOUT) INOUT(u64, totals)
GYRE_BUFFERS(ledger_buffers, TOTALS)

#define LEDGER(FIELD) FIELD(u64, count) FIELD(u64, sum)
GYRE_MESSAGE(ledger_state, LEDGER)

GYRE_ACTOR_WITH(ledger, entry, receipt, ledger_state, ledger_buffers)
{
    reply->count = ++state->count;
    reply->sum = state->sum += request->add;
    buffers->totals[0] += request->add;
    reply->add = request->add * 1;
    reply->version = 1;
    return GYRE_REPLY;
}
