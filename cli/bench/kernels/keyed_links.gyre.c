/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that sends to a keyed actor, for the case `keyed/48/linked`. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define KEYED_FEED_PORTS(PORT) PORT(keyed_words, out, BENCH_ORDER_MANY)
GYRE_PORTS(keyed_feed_ports, KEYED_FEED_PORTS)

GYRE_KERNEL_TO(keyed_feed, keyed_order, gyre_none, keyed_feed_ports)
{
    for (u32 i = 0; i < BENCH_ORDER_MANY; i++) {
        GYRE_GLOBAL keyed_words *out = gyre_emit(gyre, out);
        const u64 number = request->first + i;
        out->key = BENCH_ORDER_KEY(number);
        for (u32 word = 0; word < 5; word++)
            out->word[word] = number + word;
    }
    return GYRE_NO_REPLY;
}

/* Checks each word that came, counts the messages of each key, and keeps the last one. */
GYRE_KEYED_ACTOR(keyed_linked_48, keyed_words, gyre_none, keyed_state, key)
{
    const u64 number = request->word[0];
    if (request->key != BENCH_ORDER_KEY(number))
        return gyre_fail(gyre, 1, "the key of a message is not its number's");
    for (u32 i = 1; i < 5; i++) {
        if (request->word[i] != number + i)
            return gyre_fail(gyre, 2, "a word of a message is not what was sent");
        state->last[i - 1] = request->word[i];
    }
    state->count++;
    return GYRE_NO_REPLY;
}
