/* SPDX-License-Identifier: Apache-2.0 */
/* An actor: one message after the other, by one lane. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define SUMS(FIELD) FIELD(u32, sum) FIELD(u32, count)
GYRE_MESSAGE(sums, SUMS)

GYRE_ACTOR(actor_chain, work, done, sums)
{
    u32 x = request->seed;
    for (u32 i = 0; i < request->turns; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 13;
    }
    state->sum += x;
    state->count++;
    reply->value = state->sum;
    return GYRE_REPLY;
}
