/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane reads a row of its own: neighbours are 4 KiB apart. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_KERNEL_WITH(rows, work, done, gyre_none, table_buffers)
{
    const u32 first = request->seed % 4096u * 1024u;
    u32 x = 0;
    for (u32 i = 0; i < request->turns; i++)
        x += buffers->table[first + i];
    reply->value = x;
    return GYRE_REPLY;
}
