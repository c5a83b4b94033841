/* SPDX-License-Identifier: Apache-2.0 */
/* Each message looks for its key in a sorted table of a buffer. */
#include <gyre/kernel.h>

#define KEY(FIELD) FIELD(u32, key)
GYRE_MESSAGE(key_of, KEY)
#define PLACE(FIELD) FIELD(u32, place)
GYRE_MESSAGE(place_of, PLACE)
#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_KERNEL_WITH(search, key_of, place_of, gyre_none, table_buffers)
{
    u32 low = 0, high = (u32)buffers->table_count;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (buffers->table[middle] < request->key)
            low = middle + 1;
        else
            high = middle;
    }
    reply->place = low;
    return GYRE_REPLY;
}
