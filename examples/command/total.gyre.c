/* SPDX-License-Identifier: Apache-2.0 */
/* An actor: messages one after the other, with a state that starts as `--state` says. */
#include <gyre/kernel.h>

#define TOTAL_REQUEST(FIELD) FIELD(i64, add)
GYRE_MESSAGE(total_request, TOTAL_REQUEST)

#define TOTAL_STATE(FIELD) FIELD(i64, sum) FIELD(u64, count)
GYRE_MESSAGE(total_state, TOTAL_STATE)

GYRE_ACTOR(total, total_request, total_state, total_state)
{
    state->sum += request->add;
    state->count++;
    reply->sum = state->sum;
    reply->count = state->count;
    return GYRE_REPLY;
}
