/* SPDX-License-Identifier: Apache-2.0 */
/* How many of 400 random points lie in a circle. */
#include <gyre/kernel.h>

#define SEED(FIELD) FIELD(u32, seed)
GYRE_MESSAGE(seed_of, SEED)
#define HITS(FIELD) FIELD(u32, hits)
GYRE_MESSAGE(hits_of, HITS)

GYRE_KERNEL(montecarlo, seed_of, hits_of)
{
    u32 x = request->seed | 1, hits = 0;
    for (u32 i = 0; i < 400; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        const f32 a = (f32)(x & 0xffff) / 65536.0f, b = (f32)(x >> 16) / 65536.0f;
        hits += a * a + b * b < 1.0f;
    }
    reply->hits = hits;
    return GYRE_REPLY;
}
