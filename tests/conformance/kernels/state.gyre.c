/* SPDX-License-Identifier: Apache-2.0 */
/* State: an actor that needs no atomics, and lane kernels that do, of messages of a line and of more. */
#include <gyre/kernel.h>
#include "messages.h"

GYRE_ACTOR(tally_actor, words_1, tally, tally)
{
    state->count++;
    state->sum = state->sum * 31 + request->w[0]; /* depends on the order */
    reply->count = state->count;
    reply->sum = state->sum;
    return GYRE_REPLY;
}

GYRE_KERNEL_WITH(tally_lanes, words_1, words_1, tally, gyre_none)
{
    reply->w[0] = gyre_atomic_add(&state->count, (u64)1);
    gyre_atomic_add(&state->sum, request->w[0]);
    return GYRE_REPLY;
}

GYRE_KERNEL_WITH(tally_wide, words_7, words_7, tally, gyre_none)
{
    reply->w[0] = gyre_atomic_add(&state->count, (u64)1);
    gyre_atomic_add(&state->sum, request->w[0]);
    return GYRE_REPLY;
}
