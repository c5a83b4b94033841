/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that keep something between messages: what `checkpoint/...` and `journal/...` measure. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define BENCH_KEEP_BUFFERS(IN, INOUT) INOUT(u64, cells)
GYRE_BUFFERS(keep_buffers, BENCH_KEEP_BUFFERS)

GYRE_KERNEL_WITH(keep_cells, keep_request, keep_reply, gyre_none, keep_buffers)
{
    u64 cell = request->cell % buffers->cells_count;
    buffers->cells[cell] += request->value;
    reply->value = buffers->cells[cell];
    return GYRE_REPLY;
}

GYRE_ACTOR(keep_sum, keep_request, keep_reply, keep_state)
{
    state->value += request->value;
    reply->value = state->value;
    return GYRE_REPLY;
}
