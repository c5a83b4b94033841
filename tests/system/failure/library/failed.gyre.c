/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that tell whether a request was handled once: a function of it, or of all so far. */
#include <gyre/kernel.h>
#include "failed.h"

GYRE_KERNEL(plain, failed_request, failed_reply)
{
    reply->count = 1;
    reply->check = request->number * 31;
    return GYRE_REPLY;
}

GYRE_ACTOR(chain, failed_request, failed_reply, failed_reply)
{
    state->count++;
    state->check = state->check * 31 + request->number;
    *reply = *state;
    return GYRE_REPLY;
}
