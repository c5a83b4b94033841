/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel with state and one with a buffer, whose replies show each request that was lost, doubled or changed. */
#include <gyre/kernel.h>
#include "driver.h"

#define TABLES(IN, INOUT) IN(u64, table)
GYRE_BUFFERS(tables, TABLES)

GYRE_KERNEL_WITH(lookup, word, word, gyre_none, tables)
{
    if (!gyre_assert(gyre, request->value < buffers->table_count))
        return GYRE_FAILED;
    reply->value = buffers->table[request->value];
    return GYRE_REPLY;
}

GYRE_ACTOR(chain, word, word, word)
{
    state->value = state->value * 31 + request->value; /* depends on the order */
    reply->value = state->value;
    return GYRE_REPLY;
}
