/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/kernel.h>
#include "till.h"

GYRE_ACTOR_OF(till, TILL, till_sum)

GYRE_HANDLER(till, till_put, till_sum)
{
    state->sum = state->sum * 31 + request->amount;
    state->puts++;
    reply->sum = state->sum;
    reply->puts = state->puts;
    return GYRE_REPLY;
}

GYRE_QUERY(till, till_ask, till_sum)
{
    reply->sum = state->sum;
    reply->puts = state->puts;
    return GYRE_REPLY;
}
