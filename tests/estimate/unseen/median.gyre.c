/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that keeps the last nine numbers, and answers with the middle one of them. */
#include <gyre/kernel.h>

#define SAMPLE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(sample_of, SAMPLE)
#define MIDDLE(FIELD) FIELD(u32, middle)
GYRE_MESSAGE(middle_of, MIDDLE)
#define KEPT(FIELD) FIELD(u32, values[9]) FIELD(u32, next)
GYRE_MESSAGE(median_state, KEPT)

GYRE_ACTOR(median, sample_of, middle_of, median_state)
{
    state->values[state->next % 9] = request->value;
    state->next++;
    u32 middle = 0;
    for (u32 i = 0; i < 9; i++) {
        u32 below = 0;
        for (u32 j = 0; j < 9; j++)
            below += state->values[j] < state->values[i] || (state->values[j] == state->values[i] && j < i);
        if (below == 4)
            middle = state->values[i];
    }
    reply->middle = middle;
    return GYRE_REPLY;
}
