/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane reads far and wide, one address after the other. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_KERNEL_WITH(gather, work, done, gyre_none, table_buffers)
{
    u32 x = request->seed;
    for (u32 i = 0; i < request->turns; i++)
        x = x * 1664525u + 1013904223u + buffers->table[x % (u32)buffers->table_count];
    reply->value = x;
    return GYRE_REPLY;
}
