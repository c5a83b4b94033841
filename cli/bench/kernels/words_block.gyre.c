/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that replies as words.gyre.c does, with all lanes of a block. It has a file of its own, because PoCL's optimizer is
 * off for files with block kernels. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_BLOCK_KERNEL(words_1024_block, words_1024, words_1024, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 128; i += gyre_lane_count(gyre))
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(words_65536_block, words_65536, words_65536, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 8192; i += gyre_lane_count(gyre))
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}
