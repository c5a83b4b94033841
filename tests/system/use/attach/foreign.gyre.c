/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that do nothing wrong, in every form: each gives back what it was asked, item by item. The clock is looked
 * at between two items, because a compiler then reads the part anew for each.
 */
#include <gyre/kernel.h>
#include "foreign.h"

GYRE_HELPER void give_word(const GYRE_GLOBAL foreign_ask *request, GYRE_GLOBAL foreign_told *reply, u32 i,
                           gyre_context *gyre)
{
    const u64 word = gyre_get(gyre, u64, request, request->words, i), now = gyre_time_ns(gyre);
    gyre_set(gyre, u64, reply, reply->words, i, now == 1 ? now : word);
}

GYRE_HELPER void give_back(const GYRE_GLOBAL foreign_ask *request, GYRE_GLOBAL foreign_told *reply,
                           gyre_context *gyre)
{
    const u32 count = request->words.count;
    reply->number = request->number;
    reply->words = gyre_new(gyre, u64, reply, count);
    for (u32 i = 0; i < count; i++)
        give_word(request, reply, i, gyre);
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
}

GYRE_KERNEL(foreign_lane, foreign_ask, foreign_told)
{
    const u32 type = gyre_header_type(gyre);
    const u64 id = gyre_header_id(gyre);
    give_back(request, reply, gyre);
    if (gyre_header_type(gyre) != type || gyre_header_id(gyre) != id)
        return gyre_fail(gyre, FOREIGN_CHANGED, "the header changed");
    return GYRE_REPLY;
}

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

/* ---- what is left out ---- */

GYRE_HELPER gyre_result nothing(void)
{
    return GYRE_REPLY;
}

GYRE_KERNEL(nothing_small, foreign_count, foreign_holes)
{
    return nothing();
}

GYRE_KERNEL(nothing_large, foreign_count, foreign_large)
{
    return nothing();
}

GYRE_BLOCK_KERNEL(nothing_block, foreign_count, foreign_large, gyre_none)
{
    return nothing();
}

GYRE_ACTOR(nothing_actor, foreign_count, foreign_large, foreign_state)
{
    state->handled++;
    return nothing();
}

/* One request in two fills what it makes; the next one makes the same and fills nothing. */
GYRE_KERNEL(nothing_tail, foreign_count, foreign_tail)
{
    reply->words = gyre_new(gyre, u64, reply, 20);
    reply->text = gyre_new(gyre, u8, reply, 60);
    for (u32 i = 0; request->number % 2 && i < 20; i++)
        gyre_set(gyre, u64, reply, reply->words, i, ~(u64)0);
    for (u32 i = 0; request->number % 2 && i < 60; i++)
        gyre_set(gyre, u8, reply, reply->text, i, 'x');
    return GYRE_REPLY;
}

GYRE_KERNEL_OF(foreign_left_out, FOREIGN_LEFT_OUT)

GYRE_HANDLER(foreign_left_out, foreign_poke, foreign_holes)
{
    return nothing();
}

GYRE_HANDLER(foreign_left_out, foreign_large, foreign_large)
{
    if (request->one)
        *reply = *request;
    return GYRE_REPLY;
}
