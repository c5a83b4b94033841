/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a cipher over eight words that stay in registers once a compiler unrolls the inner loop. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(rounds, work, done)
{
    u32 s[8];
    for (u32 i = 0; i < 8; i++)
        s[i] = request->seed + i;
    for (u32 i = 0; i < request->turns; i++) {
        const u32 t = s[7] + (gyre_rotl_u32(s[4], 26) ^ gyre_rotl_u32(s[4], 21)) + (s[4] & s[5]) + i;
        for (u32 j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t;
        s[0] = t + (gyre_rotl_u32(s[1], 30) ^ s[2]);
    }
    reply->value = s[0] ^ s[4];
    return GYRE_REPLY;
}
