/* SPDX-License-Identifier: Apache-2.0 */
/* The mean of the last 16 numbers, in the state of an actor. */
#include <gyre/kernel.h>

#define NUMBER(FIELD) FIELD(f32, value)
GYRE_MESSAGE(number, NUMBER)
#define LATEST(FIELD) FIELD(f32, values[16]) FIELD(f32, sum) FIELD(u32, next)
GYRE_MESSAGE(latest, LATEST)

GYRE_ACTOR(average, number, number, latest)
{
    const u32 at = state->next % 16;
    state->sum += request->value - state->values[at];
    state->values[at] = request->value;
    state->next++;
    reply->value = state->sum / 16.0f;
    return GYRE_REPLY;
}
