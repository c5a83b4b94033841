/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions of integers by a number that the compiler does not know. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(divide, work, done)
{
    u32 x = request->seed | 0x80000000u;
    for (u32 i = 0; i < request->turns; i++)
        x = x / (i + 3u) + 0x80000001u;
    reply->value = x;
    return GYRE_REPLY;
}
