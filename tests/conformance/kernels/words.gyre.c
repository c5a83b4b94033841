/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of all sizes: each word times 3 plus its place. */
#include <gyre/kernel.h>
#include "messages.h"

#define WORDS_KERNEL(name, type, count)                                                                      \
    GYRE_KERNEL(name, type, type)                                                                            \
    {                                                                                                        \
        for (u32 i = 0; i < count; i++)                                                                      \
            reply->w[i] = request->w[i] * 3 + i;                                                             \
        return GYRE_REPLY;                                                                                   \
    }

WORDS_KERNEL(words_of_1, words_1, 1)
WORDS_KERNEL(words_of_6, words_6, 6)
WORDS_KERNEL(words_of_7, words_7, 7)
WORDS_KERNEL(words_of_128, words_128, 128)
WORDS_KERNEL(words_of_8192, words_8192, 8192)
