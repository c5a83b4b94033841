/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of every size: a letter is answered by one that is as long as it asks for. */
#include <gyre/kernel.h>
#include "messages.h"

GYRE_KERNEL(letters, letter, letter)
{
    reply->number = request->number;
    reply->words = gyre_new(gyre, u64, reply, request->wanted);
    GYRE_GLOBAL u64 *words = gyre_writable(u64, reply, reply->words);
    const GYRE_GLOBAL u64 *asked = gyre_items(u64, request, request->words);
    for (u32 i = 0; i < reply->words.count; i++)
        words[i] = i < request->words.count ? asked[i] * 3 : request->number + i;
    return request->silent ? GYRE_NO_REPLY : GYRE_REPLY;
}
