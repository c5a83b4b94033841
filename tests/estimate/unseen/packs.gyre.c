/* SPDX-License-Identifier: Apache-2.0 */
/* Packs 20 floats as halves, two in a word; those too small for a half are 0. */
#include <gyre/kernel.h>

#define FLOATS(FIELD) FIELD(f32, values[20])
GYRE_MESSAGE(floats_of, FLOATS)
#define HALVES(FIELD) FIELD(u32, words[10])
GYRE_MESSAGE(halves_of, HALVES)

GYRE_HELPER u32 half_of(u32 bits)
{
    const u32 sign = bits >> 16 & 0x8000u, power = bits >> 23 & 0xffu;
    if (power < 113)
        return sign;
    if (power > 142)
        return sign | 0x7c00u;
    const u32 rest = bits & 0x7fffffu, half = (power - 112) << 10 | rest >> 13;
    return sign | (half + (rest >> 12 & 1u));
}

GYRE_KERNEL(packs, floats_of, halves_of)
{
    for (u32 i = 0; i < 10; i++)
        reply->words[i] = half_of(gyre_bits_from_f32(request->values[2 * i])) |
                          half_of(gyre_bits_from_f32(request->values[2 * i + 1])) << 16;
    return GYRE_REPLY;
}
