/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel `sturdy` of the crash tests as a keyed actor: each key is there for one message. */
#include <gyre/kernel.h>

#include "../../survival/crash/crash.h"

GYRE_HELPER u64 mixed(u64 number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

GYRE_KEYED_ACTOR(sturdy, crash_request, crash_reply, crash_state, number)
{
    if (!gyre_assert(gyre, state->count == 0))
        return GYRE_FAILED;
    state->count++;
    gyre_forget(gyre);
    reply->number = request->number;
    reply->check = mixed(request->number);
    return GYRE_REPLY;
}
