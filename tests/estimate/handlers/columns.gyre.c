/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours read neighbours: 32 lanes share 128 bytes. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_KERNEL_WITH(columns, work, done, gyre_none, table_buffers)
{
    const u32 first = request->seed % 4096u;
    u32 x = 0;
    for (u32 i = 0; i < request->turns; i++)
        x += buffers->table[first + 4096u * i];
    reply->value = x;
    return GYRE_REPLY;
}
