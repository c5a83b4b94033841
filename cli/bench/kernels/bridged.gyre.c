/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that reply word * 3 + i for word i: for messages of changing length, and for fixed messages to compare with. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_KERNEL(bridged_512, bridged_512, bridged_512)
{
    const GYRE_GLOBAL u64 *from = gyre_items(u64, request, request->words);
    reply->words = gyre_new(gyre, u64, reply, request->words.count);
    GYRE_GLOBAL u64 *to = gyre_writable(u64, reply, reply->words);
    for (u32 i = 0; i < reply->words.count; i++)
        to[i] = from[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(bridged_65536, bridged_65536, bridged_65536, gyre_none)
{
    const GYRE_GLOBAL u64 *from = gyre_items(u64, request, request->words);
    if (gyre_lane(gyre) == 0)
        reply->words = gyre_new(gyre, u64, reply, request->words.count);
    gyre_barrier(gyre);
    GYRE_GLOBAL u64 *to = gyre_writable(u64, reply, reply->words);
    for (u32 i = gyre_lane(gyre); i < reply->words.count; i += gyre_lane_count(gyre))
        to[i] = from[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_KERNEL(words_288, words_288, words_288)
{
    for (u32 i = 0; i < 36; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}
