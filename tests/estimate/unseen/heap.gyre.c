/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that keeps a heap of 64 numbers in its state. */
#include <gyre/kernel.h>

#define PUT(FIELD) FIELD(u32, value)
GYRE_MESSAGE(put, PUT)
#define LEAST(FIELD) FIELD(u32, value)
GYRE_MESSAGE(least, LEAST)
#define HEAP(FIELD) FIELD(u32, count) FIELD(u32, values[64])
GYRE_MESSAGE(heap_state, HEAP)

GYRE_ACTOR(heap, put, least, heap_state)
{
    u32 least = request->value, at = 0;
    if (state->count < 63) {
        at = state->count++;
        while (at > 0 && state->values[(at - 1) / 2] > request->value) {
            state->values[at] = state->values[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        state->values[at] = request->value;
        reply->value = state->values[0];
        return GYRE_REPLY;
    }
    if (state->values[0] < request->value) {
        least = state->values[0];
        for (u32 child = 1; child < 63; child = 2 * at + 1) {
            child += child + 1 < 63 && state->values[child + 1] < state->values[child];
            if (state->values[child] >= request->value)
                break;
            state->values[at] = state->values[child];
            at = child;
        }
        state->values[at] = request->value;
    }
    reply->value = least;
    return GYRE_REPLY;
}
