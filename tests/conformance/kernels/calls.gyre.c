/* SPDX-License-Identifier: Apache-2.0 */
/* Each word times 3 plus its place, by every form of kernel. */
#include <gyre/kernel.h>
#include "calls.h"

GYRE_KERNEL(lane_25, call_25, call_25)
{
    for (u32 i = 0; i < 25; i++)
        reply->w[i] = request->w[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_KERNEL(lane_257, call_257, call_257)
{
    for (u32 i = 0; i < 257; i++)
        reply->w[i] = request->w[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(block_256, call_256, call_256, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 256; i += gyre_lane_count(gyre))
        reply->w[i] = request->w[i] * 3 + i;
    return GYRE_REPLY;
}

/* A small request with a larger reply. */
GYRE_BLOCK_KERNEL(block_6, call_6, call_25, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 25; i += gyre_lane_count(gyre))
        reply->w[i] = request->w[i % 6] * 3 + i;
    return GYRE_REPLY;
}

GYRE_ACTOR(actor_255, call_255, call_255, call_6)
{
    state->w[0]++;
    for (u32 i = 0; i < 255; i++)
        reply->w[i] = request->w[i] * 3 + i;
    reply->w[0] = state->w[0];
    return GYRE_REPLY;
}

GYRE_KERNEL(words_back, call_words, call_words)
{
    if (request->number == CALL_FAILS)
        return gyre_fail(gyre, 8, "asked to fail");
    if (request->number == CALL_IS_SILENT)
        return GYRE_NO_REPLY;
    reply->number = request->number + 1;
    reply->words = gyre_new(gyre, u64, reply, request->words.count);
    GYRE_GLOBAL u64 *words = gyre_writable(u64, reply, reply->words);
    const GYRE_GLOBAL u64 *asked = gyre_items(u64, request, request->words);
    for (u32 i = 0; i < reply->words.count; i++)
        words[i] = asked[i] * 3 + i;
    return GYRE_REPLY;
}

/* What asks without a word. */
GYRE_KERNEL(lane_none, gyre_none, call_6)
{
    for (u32 i = 0; i < 6; i++)
        reply->w[i] = i + 7;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(block_none, gyre_none, call_6, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 6; i += gyre_lane_count(gyre))
        reply->w[i] = i + 7;
    return GYRE_REPLY;
}

GYRE_ACTOR(actor_none, gyre_none, call_6, call_6)
{
    state->w[0]++;
    for (u32 i = 0; i < 6; i++)
        reply->w[i] = state->w[0] + i;
    return GYRE_REPLY;
}
