/* SPDX-License-Identifier: Apache-2.0 */
/* Refused: the state lost a field. */
#include <gyre/kernel.h>
#include "ledger.h"

#define TOTALS(IN, INOUT) INOUT(u64, totals)
GYRE_BUFFERS(ledger_buffers, TOTALS)

#define LEDGER(FIELD) FIELD(u64, count)
GYRE_MESSAGE(ledger_state, LEDGER)

GYRE_ACTOR_WITH(ledger, entry, receipt, ledger_state, ledger_buffers)
{
    reply->count = ++state->count;
    buffers->totals[0] += request->add;
    return GYRE_REPLY;
}
