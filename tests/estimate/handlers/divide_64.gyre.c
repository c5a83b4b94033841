/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions of 64-bit numbers, each of what the one before left. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(divide_64, work, done)
{
    u64 x = (u64)request->seed << 32 | 0x9e3779b9u;
    for (u32 i = 0; i < request->turns; i++)
        x = x / ((x >> 40) | 1u) * 0x9e3779b97f4a7c15UL + i;
    reply->value = (u32)(x >> 32);
    return GYRE_REPLY;
}
