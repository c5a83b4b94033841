/* SPDX-License-Identifier: Apache-2.0 */
/* All integer types: wrapping, widening, narrowing, signs. */
#include <gyre/kernel.h>

#include "integers.h"

/* The upper half of a 128-bit product. */
GYRE_HELPER u64 multiply_high(u64 a, u64 b)
{
    const u64 a_low = (u32)a, a_high = a >> 32, b_low = (u32)b, b_high = b >> 32;
    const u64 middle = a_high * b_low + (a_low * b_low >> 32);
    const u64 carry = a_low * b_high + (u32)middle;
    return a_high * b_high + (middle >> 32) + (carry >> 32);
}

/* One bit for each comparison that holds. */
GYRE_HELPER u32 compare(const GYRE_GLOBAL integers_request *in)
{
    u32 less = 0;
    less |= (u32)(in->a8 < in->b8) << 0;
    less |= (u32)(in->a16 < in->b16) << 1;
    less |= (u32)(in->a32 < in->b32) << 2;
    less |= (u32)(in->a64 < in->b64) << 3;
    less |= (u32)(in->ua8 < in->ub8) << 4;
    less |= (u32)(in->ua16 < in->ub16) << 5;
    less |= (u32)(in->ua32 < in->ub32) << 6;
    less |= (u32)(in->ua64 < in->ub64) << 7;
    return less;
}

GYRE_KERNEL(integers, integers_request, integers_reply)
{
    if (!gyre_assert(gyre, request->b32 != 0 && request->b64 != 0 && request->ub64 != 0))
        return GYRE_FAILED;
    reply->sum8 = (i8)((u8)request->a8 + (u8)request->b8);
    reply->sum16 = (i16)((u16)request->a16 + (u16)request->b16);
    reply->sum32 = (i32)((u32)request->a32 + (u32)request->b32);
    reply->sum64 = (i64)((u64)request->a64 + (u64)request->b64);
    reply->product8 = (u8)(request->ua8 * request->ub8);
    reply->product16 = (u16)((u32)request->ua16 * request->ub16);
    reply->product32 = request->ua32 * request->ub32;
    reply->product64 = request->ua64 * request->ub64;
    reply->high64 = multiply_high(request->ua64, request->ub64);
    reply->quotient = request->a32 / request->b32;
    reply->rest = request->a32 % request->b32;
    reply->quotient64 = request->a64 / request->b64;
    reply->rest64 = request->ua64 % request->ub64;
    reply->shifted = request->a32 >> (request->ub8 & 31);
    reply->less = compare(request);
    reply->widened = (i64)request->a8 * request->a16 * request->a32;
    reply->narrowed = (i8)request->a32;
    const u64 sum = (u64)request->ua32 + request->ub32;
    reply->saturated = sum > 0xffffffffu ? 0xffffffffu : (u32)sum;
    return GYRE_REPLY;
}
