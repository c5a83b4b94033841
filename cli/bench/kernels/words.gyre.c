/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that reply word * 3 + i for word i of a request, one kernel for each size of messages. One lane handles a message.
 * The loop over its words is unrolled, so that the loads are under way together. */
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
