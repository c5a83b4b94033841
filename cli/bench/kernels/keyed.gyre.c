/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor, for the cases `keyed/...`. */
#include <gyre/kernel.h>

#include "bench_messages.h"

/* Counts the messages of each key, and keeps the last one. */
GYRE_KEYED_ACTOR(keyed_48, keyed_words, keyed_words, keyed_state, key)
{
    reply->key = request->key;
    reply->word[0] = ++state->count;
    for (u32 i = 1; i < 5; i++) {
        state->last[i - 1] = request->word[i];
        reply->word[i] = request->word[i] * 3 + i + 1;
    }
    return GYRE_REPLY;
}
