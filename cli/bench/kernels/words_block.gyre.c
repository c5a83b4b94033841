/* SPDX-License-Identifier: Apache-2.0 */
/* As words.gyre.c, by all lanes of a block. A file of its own, because PoCL's optimizer is kept from those with block kernels. */
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
