/* SPDX-License-Identifier: Apache-2.0 */
/* An actor with a hash table of structs in a buffer. */
#include <gyre/kernel.h>

#include "key_value.h"

GYRE_BUFFERS(store_buffers, STORE_BUFFERS)

enum action { GET, PUT };

/* The entry of the key, or the free one where it belongs; NULL when all are taken by others. */
GYRE_HELPER GYRE_GLOBAL store_entry *find(const store_buffers *buffers, u64 key)
{
    const u64 count = buffers->entries_count;
    const u64 start = (key ^ buffers->seed[0]) * 0x9e3779b97f4a7c15UL >> 32;
    for (u64 i = 0; i < count; i++) {
        GYRE_GLOBAL store_entry *entry = &buffers->entries[(start + i) % count];
        if (!entry->taken || entry->key == key)
            return entry;
    }
    return 0;
}

GYRE_ACTOR_WITH(key_value, store_request, store_reply, store_state, store_buffers)
{
    GYRE_GLOBAL store_entry *entry = find(buffers, request->key);
    if (!entry && request->action == PUT)
        return gyre_fail(gyre, 1, "the store is full");
    reply->found = entry && entry->taken;
    reply->value = reply->found ? entry->value : 0;
    if (request->action == PUT) {
        state->used += !entry->taken;
        entry->taken = 1;
        entry->key = request->key;
        entry->value = request->value;
    }
    reply->used = state->used;
    return GYRE_REPLY;
}
