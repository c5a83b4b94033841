/* SPDX-License-Identifier: Apache-2.0 */
/* An array of the handler's own whose indices only the message knows: it lies in local memory. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(local_table, work, done)
{
    u32 table[64];
    u32 x = request->seed;
    for (u32 i = 0; i < 64; i++)
        table[i] = x + i;
    for (u32 i = 0; i < request->turns; i++) {
        table[x % 64u] += i;
        x = x * 1664525u + table[(x >> 8) % 64u];
    }
    reply->value = x;
    return GYRE_REPLY;
}
