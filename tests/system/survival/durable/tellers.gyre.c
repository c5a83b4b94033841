/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/kernel.h>

#include "tellers.h"

GYRE_KEYED_ACTOR(tellers, payment, teller, teller, account)
{
    state->count++;
    state->trace = state->trace * 31 + request->amount;
    *reply = *state;
    return GYRE_REPLY;
}

/* Each message has its account reminded so many microseconds later. */
GYRE_KEYED_ACTOR_REMINDED(watched, payment, watch, watch, account)
{
    state->count++;
    state->since = 0;
    state->trace = state->trace * 31 + request->amount;
    gyre_remind(gyre, request->amount % 4000 * 1000);
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_REMINDED(watched)
{
    state->reminded++;
    state->since++;
    state->trace = state->trace * 31 + 0x9e3779b97f4a7c15u;
}
