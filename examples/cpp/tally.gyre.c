/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/kernel.h>
#include "tally.h"

GYRE_KERNEL(scale, scale_request, scale_reply)
{
    reply->result = request->value * request->factor;
    return GYRE_REPLY;
}

GYRE_ACTOR(tally, tally_request, tally_reply, tally_reply)
{
    if (state->sum + request->add < 0)
        return gyre_fail(gyre, 7, "the sum would be negative");
    state->sum += request->add;
    reply->sum = state->sum;
    return GYRE_REPLY;
}
