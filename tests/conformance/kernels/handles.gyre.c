/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that messages name, in each form of kernel. */
#include <gyre/kernel.h>
#include "messages.h"

GYRE_HELPER u64 sum_words(const GYRE_GLOBAL u64 *words, u64 first, u64 step, u64 count)
{
    u64 sum = 0;
    for (u64 i = first; i < count; i += step)
        sum += words[i];
    return sum;
}

GYRE_HELPER void write_words(GYRE_GLOBAL u64 *words, u64 first, u64 step, u64 count, u64 add)
{
    for (u64 i = first; i < count; i += step)
        words[i] = i + add;
}

/* Replies count and sum. Stays for a while with the buffer in its hands when told to. */
GYRE_KERNEL(lane_words, named_words, tally)
{
    u64 count;
    GYRE_GLOBAL u64 *words = gyre_open(gyre, u64, &request->words, &count);
    const u64 start = request->microseconds ? gyre_time_ns(gyre) : 0;
    while (request->microseconds && gyre_time_ns(gyre) - start < (u64)request->microseconds * 1000)
        ;
    if (request->writes)
        write_words(words, 0, 1, count, request->add);
    reply->count = count;
    reply->sum = sum_words(words, 0, 1, count);
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(block_words, named_words, tally, gyre_none)
{
    u64 count;
    GYRE_GLOBAL u64 *words = gyre_open(gyre, u64, &request->words, &count);
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    if (request->writes)
        write_words(words, lane, lanes, count, request->add);
    const u64 sum = gyre_block_sum_u64(gyre, sum_words(words, lane, lanes, count));
    if (lane == 0) {
        reply->count = count;
        reply->sum = sum;
    }
    return GYRE_REPLY;
}

/* Remembers the first buffer that it was sent, and goes on with it. */
GYRE_ACTOR(actor_words, named_words, tally, gyre_handle)
{
    u64 count;
    if (state->id == 0)
        *state = request->words;
    const GYRE_GLOBAL u64 *words = gyre_open(gyre, u64, state, &count);
    reply->count = count;
    reply->sum = sum_words(words, 0, 1, count);
    return GYRE_REPLY;
}

/* Elements of twelve bytes. */
typedef struct triple {
    u32 a, b, c;
} triple;

GYRE_KERNEL(triples, named_words, tally)
{
    u64 count;
    const GYRE_GLOBAL triple *all = gyre_open(gyre, triple, &request->words, &count);
    reply->count = count;
    reply->sum = 0;
    for (u64 i = 0; i < count; i++)
        reply->sum += all[i].c;
    return GYRE_REPLY;
}
