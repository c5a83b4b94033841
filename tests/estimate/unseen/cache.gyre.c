/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of eight entries by their last use, in the state of an actor. */
#include <gyre/kernel.h>

#define KEY(FIELD) FIELD(u32, key)
GYRE_MESSAGE(key_of, KEY)
#define HIT(FIELD) FIELD(u32, hit)
GYRE_MESSAGE(hit_of, HIT)
#define CACHE(FIELD) FIELD(u32, keys[8]) FIELD(u32, used[8]) FIELD(u32, now)
GYRE_MESSAGE(cache_state, CACHE)

GYRE_ACTOR(cache, key_of, hit_of, cache_state)
{
    u32 oldest = 0;
    state->now++;
    reply->hit = 0;
    for (u32 i = 0; i < 8; i++) {
        if (state->keys[i] == request->key + 1) {
            state->used[i] = state->now;
            reply->hit = 1;
            return GYRE_REPLY;
        }
        if (state->used[i] < state->used[oldest])
            oldest = i;
    }
    state->keys[oldest] = request->key + 1;
    state->used[oldest] = state->now;
    return GYRE_REPLY;
}
