/* SPDX-License-Identifier: Apache-2.0 */
/* An actor with divisions of 64-bit numbers. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define LAST(FIELD) FIELD(u64, last)
GYRE_MESSAGE(last, LAST)

GYRE_ACTOR(actor_divide_64, work, done, last)
{
    u64 x = state->last ^ ((u64)request->seed << 32 | 0x9e3779b9u);
    for (u32 i = 0; i < request->turns; i++)
        x = x / ((x >> 40) | 1u) * 0x9e3779b97f4a7c15UL + i;
    state->last = x;
    reply->value = (u32)(x >> 32);
    return GYRE_REPLY;
}
