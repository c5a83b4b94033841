/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that reads a buffer here and there. Others may write it, so that no cache keeps it between two messages. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define COUNT(FIELD) FIELD(u32, count)
GYRE_MESSAGE(count, COUNT)
#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_ACTOR_WITH(actor_reads, work, done, count, table_buffers)
{
    u32 x = request->seed * 2654435761u;
    for (u32 i = 0; i < request->turns; i++)
        x = x * 1664525u + 1013904223u + buffers->table[(x >> 9) % 1024u];
    state->count++;
    reply->value = x;
    return GYRE_REPLY;
}
