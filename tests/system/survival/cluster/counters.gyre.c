/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/kernel.h>

#include "counters.h"

GYRE_KEYED_ACTOR(counters, count_request, count_state, count_state, account)
{
    if (request->amount == REFUSED_AMOUNT)
        return gyre_fail(gyre, 7, "refused");
    if (request->amount == CRASHING_AMOUNT)
        *(volatile u64 *)(request->amount + 2) = 1; /* at 0 */
    if (IS_SLOW(request->amount)) {
        const u64 until = gyre_time_ns(gyre) + (request->amount & 0xffffffff) * 1000000;
        while (gyre_time_ns(gyre) < until) {
        }
    }
    state->count++;
    state->trace = COUNTED(state->trace, request->amount);
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_ACTOR(no_keys, count_request, count_state, count_state)
{
    *reply = *state;
    return GYRE_REPLY;
}
