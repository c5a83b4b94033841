/* SPDX-License-Identifier: Apache-2.0 */
/* Of several blocks, which answer out of order: version 2. */
#include <gyre/kernel.h>
#include "ledger.h"

#define TOTALS(IN, INOUT) INOUT(u64, totals)
GYRE_BUFFERS(ledger_buffers, TOTALS)

#define LEDGER(FIELD) FIELD(u64, count) FIELD(u64, sum)
GYRE_MESSAGE(ledger_state, LEDGER)

GYRE_KERNEL_WITH(ledger, entry, receipt, ledger_state, ledger_buffers)
{
    reply->count = gyre_atomic_add(&state->count, (u64)1) + 1;
    gyre_atomic_add(&state->sum, request->add);
    gyre_atomic_add(&buffers->totals[0], request->add);
    reply->sum = 0;
    reply->add = request->add * 2;
    reply->version = 2;
    return GYRE_REPLY;
}
