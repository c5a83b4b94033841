/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that tell each word of the request and its place: word * 3 + i. One lane kernel for each size. Where a call of one
 * message is timed, one lane does all of it: unrolled, its loads are under way together. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_KERNEL(words_48, words_48, words_48)
{
    for (u32 i = 0; i < 6; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_KERNEL(words_1024, words_1024, words_1024)
{
#pragma unroll
    for (u32 i = 0; i < 128; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_KERNEL(words_4096, words_4096, words_4096)
{
    for (u32 i = 0; i < 512; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}

GYRE_KERNEL(words_65536, words_65536, words_65536)
{
    for (u32 i = 0; i < 8192; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}
