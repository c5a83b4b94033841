/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours go different ways: every second message takes the other branch. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(branches, work, done)
{
    u32 x = request->seed;
    for (u32 i = 0; i < request->turns; i++) {
        if (request->seed & 1u) {
            x = x * 1664525u + 1013904223u;
            x ^= x >> 13;
            x = x * 22695477u + 1u;
        } else {
            x = x * 69069u + 7u;
            x ^= x << 7;
            x = x * 1103515245u + 12345u;
        }
    }
    reply->value = x;
    return GYRE_REPLY;
}
