/* SPDX-License-Identifier: Apache-2.0 */
/* Two handlers: one that reads a buffer, and an actor, which remembers. */
#include <gyre/kernel.h>
#include "tour.h"

GYRE_BUFFERS(gains, GAINS)

GYRE_KERNEL_WITH(scale, sample, scaled, gyre_none, gains)
{
    if (request->channel >= buffers->gain_count)
        return gyre_fail(gyre, 1, "no such channel");
    reply->value = request->value * buffers->gain[request->channel];
    return GYRE_REPLY;
}

GYRE_ACTOR(total, sample, totals, totals)
{
    state->count++;
    state->sum += request->value;
    *reply = *state;
    return GYRE_REPLY;
}
