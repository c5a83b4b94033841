/* SPDX-License-Identifier: Apache-2.0 */
/* Bit operations and what is built of them. */
#include <gyre/kernel.h>

#include "bits.h"

GYRE_HELPER u32 reverse_bits(u32 x)
{
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
    return x << 16 | x >> 16;
}

GYRE_HELPER u64 spread(u32 x)
{
    u64 wide = x;
    wide = (wide | wide << 16) & 0x0000ffff0000ffffUL;
    wide = (wide | wide << 8) & 0x00ff00ff00ff00ffUL;
    wide = (wide | wide << 4) & 0x0f0f0f0f0f0f0f0fUL;
    wide = (wide | wide << 2) & 0x3333333333333333UL;
    return (wide | wide << 1) & 0x5555555555555555UL;
}

GYRE_KERNEL(bits, bits_request, bits_reply)
{
    const u32 x = request->word;
    const u64 wide = request->wide;
    reply->popcount = gyre_popcount_u32(x);
    reply->popcount_wide = gyre_popcount_u64(wide);
    reply->clz = gyre_clz_u32(x);
    reply->clz_wide = gyre_clz_u64(wide);
    reply->ctz = gyre_ctz_u32(x);
    reply->ctz_wide = gyre_ctz_u64(wide);
    reply->rotated = gyre_rotl_u32(x, request->shift);
    reply->rotated_wide = gyre_rotl_u64(wide, request->shift);
    reply->reversed = reverse_bits(x);
    reply->gray = x ^ x >> 1;
    reply->morton = spread(x) | spread((u32)wide) << 1;
    reply->next_power = x <= 1 ? 1 : x > 0x80000000u ? 0 : 1u << (32 - gyre_clz_u32(x - 1)) % 32;
    reply->swapped = x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24;
    reply->parity = (u8)(gyre_popcount_u32(x) & 1);
    return GYRE_REPLY;
}
