/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel whose threads need more memory of their own than a GPU has for each from the start. */
#include <gyre/kernel.h>
#include "messages.h"

#define DEEP_WORDS 400

GYRE_KERNEL(deep, words_1, words_1)
{
    volatile u64 own[DEEP_WORDS]; /* volatile: no compiler keeps it in registers, or leaves it out */
    for (u32 i = 0; i < DEEP_WORDS; i++)
        own[i] = request->w[0] + i;
    reply->w[0] = own[request->w[0] * 7 % DEEP_WORDS];
    return GYRE_REPLY;
}
