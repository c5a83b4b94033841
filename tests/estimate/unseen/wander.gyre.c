/* SPDX-License-Identifier: Apache-2.0 */
/* Follows places of a buffer, each of which names the next one. */
#include <gyre/kernel.h>

#define START(FIELD) FIELD(u32, at)
GYRE_MESSAGE(start, START)
#define PLACES(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(places, PLACES)

GYRE_KERNEL_WITH(wander, start, start, gyre_none, places)
{
    u32 at = request->at;
    for (u32 i = 0; i < 24; i++)
        at = buffers->table[at % (u32)buffers->table_count];
    reply->at = at;
    return GYRE_REPLY;
}
