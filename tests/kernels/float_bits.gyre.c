/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers as bits, NaN and infinities, conversions. */
#include <gyre/kernel.h>

#include "float_bits.h"

enum kind { ZERO, SUBNORMAL, NORMAL, INFINITE, NOT_A_NUMBER };

GYRE_HELPER u32 classify(u32 bits)
{
    const u32 exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if (exponent == 0xff)
        return fraction ? NOT_A_NUMBER : INFINITE;
    if (exponent == 0)
        return fraction ? SUBNORMAL : ZERO;
    return NORMAL;
}

GYRE_KERNEL(float_bits, float_bits_request, float_bits_reply)
{
    const u32 bits = gyre_bits_from_f32(request->x);
    reply->bits = bits;
    reply->wide = gyre_bits_from_f64(request->y);
    reply->x = gyre_f32_from_bits(request->bits);
    reply->y = gyre_f64_from_bits(request->wide);
    reply->kind = classify(bits);
    reply->next = reply->kind == NORMAL ? gyre_f32_from_bits(bits + 1) : request->x;
    reply->exponent = (i32)(bits >> 23 & 0xff) - 127;
    reply->truncated = fabsf(request->x) < 1e9f ? (i32)request->x : 0;
    reply->narrowed = (f32)request->y;
    reply->widened = (f64)request->x;
    return GYRE_REPLY;
}
