/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes read a column of the scratch: all of them lie in one bank. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
typedef struct square {
    u32 rows[32][32];
} square;

GYRE_BLOCK_KERNEL(banks, work, done, square)
{
    const u32 lane = gyre_lane(gyre) % 32;
    u32 x = request->seed;
    for (u32 i = 0; i < 32; i++)
        scratch->rows[i][lane] = x + i;
    gyre_barrier(gyre);
    for (u32 i = 0; i < request->turns; i++)
        x ^= scratch->rows[lane][(x + i) % 32];
    if (lane == 0)
        reply->value = x;
    return GYRE_REPLY;
}
