/* SPDX-License-Identifier: Apache-2.0 */
/* What foreign.gyre.c does, in every other form. */
#include <gyre/kernel.h>
#include "foreign_back.h"

GYRE_ACTOR(foreign_actor, foreign_ask, foreign_told, foreign_state)
{
    state->handled++;
    give_back(request, reply, gyre);
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(foreign_block, foreign_ask, foreign_told, gyre_none)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    if (lane == 0) {
        reply->number = request->number;
        reply->words = gyre_new(gyre, u64, reply, request->words.count);
        reply->text = gyre_copy(gyre, u8, reply, request, request->text);
    }
    gyre_barrier(gyre);
    for (u32 i = lane; i < request->words.count; i += lanes)
        give_word(request, reply, i, gyre);
    return GYRE_REPLY;
}

GYRE_KERNEL(foreign_line, foreign_little, foreign_little)
{
    reply->number = request->number;
    reply->words = gyre_new(gyre, u64, reply, request->words.count);
    for (u32 i = 0; i < reply->words.count; i++) {
        const u64 now = gyre_time_ns(gyre), word = gyre_get(gyre, u64, request, request->words, i);
        gyre_set(gyre, u64, reply, reply->words, i, now == 1 ? now : word);
    }
    return GYRE_REPLY;
}

GYRE_ACTOR_OF(foreign_both, FOREIGN_BOTH, foreign_state)

GYRE_HANDLER(foreign_both, foreign_ask, foreign_told)
{
    state->handled++;
    give_back(request, reply, gyre);
    return GYRE_REPLY;
}

GYRE_HANDLER(foreign_both, foreign_count, foreign_count)
{
    state->handled++;
    reply->number = request->number;
    return GYRE_REPLY;
}
