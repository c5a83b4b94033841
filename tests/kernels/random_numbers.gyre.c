/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: local structs by pointer, 64-bit multiplication. */
#include <gyre/kernel.h>

#include "random_numbers.h"

typedef struct xoshiro {
    u64 s[4];
} xoshiro;

GYRE_HELPER u64 splitmix(u64 *seed)
{
    *seed += 0x9e3779b97f4a7c15UL;
    u64 z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebUL;
    return z ^ z >> 31;
}

GYRE_HELPER u64 draw(xoshiro *rng)
{
    const u64 result = gyre_rotl_u64(rng->s[1] * 5, 7) * 9, t = rng->s[1] << 17;
    rng->s[2] ^= rng->s[0];
    rng->s[3] ^= rng->s[1];
    rng->s[1] ^= rng->s[2];
    rng->s[0] ^= rng->s[3];
    rng->s[2] ^= t;
    rng->s[3] = gyre_rotl_u64(rng->s[3], 45);
    return result;
}

GYRE_HELPER f64 to_unit(u64 bits)
{
    return (f64)(bits >> 11) * (1.0 / 9007199254740992.0);
}

GYRE_HELPER u32 pcg32(u64 seed, u32 draws)
{
    u64 s = seed;
    u32 out = 0;
    for (u32 i = 0; i < draws; i++) {
        const u32 shifted = (u32)((s >> 18 ^ s) >> 27), turn = (u32)(s >> 59);
        out = gyre_rotl_u32(shifted, 32 - turn);
        s = s * 6364136223846793005UL + 1442695040888963407UL;
    }
    return out;
}

GYRE_KERNEL(random_numbers, random_request, random_reply)
{
    xoshiro rng;
    u64 seed = request->seed, last = 0;
    u32 inside = 0;
    f64 sum = 0;
    for (int i = 0; i < 4; i++)
        rng.s[i] = splitmix(&seed);
    for (u32 i = 0; i < request->draws; i++) {
        const f64 x = to_unit(draw(&rng));
        last = draw(&rng);
        const f64 y = to_unit(last);
        inside += x * x + y * y < 1.0;
        sum = sum + x;
    }
    reply->last = last;
    reply->pcg = pcg32(request->seed, request->draws);
    reply->inside = inside;
    reply->mean = request->draws > 0 ? sum / (f64)request->draws : 0;
    return GYRE_REPLY;
}
