/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of integer operations, each of which needs the one before it. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(chain, work, done)
{
    u32 x = request->seed;
    for (u32 i = 0; i < request->turns; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 13;
    }
    reply->value = x;
    return GYRE_REPLY;
}
