/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose handlers keep a state, for the cases `checkpoint/...`, `journal/...` and `attached/kept/...`. */
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

/* Replies as words_48 does, as long as every message of one client comes once and in order. Otherwise the reply is wrong. */
GYRE_ACTOR(keep_words_48, words_48, words_48, keep_state)
{
    u64 missed = request->word[0] - state->value;
    state->value++;
    for (u32 i = 0; i < 6; i++)
        reply->word[i] = request->word[i] * 3 + i + missed;
    return GYRE_REPLY;
}
