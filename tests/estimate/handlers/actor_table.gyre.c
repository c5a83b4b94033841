/* SPDX-License-Identifier: Apache-2.0 */
/* An actor whose state is a table: each message reads and writes some of it. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define COUNTS(FIELD) FIELD(u32, counts[4096])
GYRE_MESSAGE(counts, COUNTS)

GYRE_ACTOR(actor_table, work, done, counts)
{
    u32 x = request->seed;
    for (u32 i = 0; i < request->turns; i++) {
        state->counts[x % 4096u]++;
        x = x * 1664525u + state->counts[(x >> 7) % 4096u];
    }
    reply->value = x;
    return GYRE_REPLY;
}
