/* SPDX-License-Identifier: Apache-2.0 */
/* Four chains of integer operations beside each other. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(chains, work, done)
{
    u32 a = request->seed, b = a + 1, c = a + 2, d = a + 3;
    for (u32 i = 0; i < request->turns; i++) {
        a = a * 1664525u + 1013904223u;
        b = b * 22695477u + 1u;
        c = c * 1103515245u + 12345u;
        d = d * 69069u + 1u;
    }
    reply->value = a ^ b ^ c ^ d;
    return GYRE_REPLY;
}
