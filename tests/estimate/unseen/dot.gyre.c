/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a block multiply 256 numbers, and add up. */
#include <gyre/kernel.h>

#define PAIR(FIELD) FIELD(f32, a[256]) FIELD(f32, b[256])
GYRE_MESSAGE(vectors, PAIR)
#define PRODUCT(FIELD) FIELD(f32, sum)
GYRE_MESSAGE(product, PRODUCT)

GYRE_BLOCK_KERNEL(dot, vectors, product, gyre_none)
{
    f32 sum = 0;
    for (u32 i = gyre_lane(gyre); i < 256; i += gyre_lane_count(gyre))
        sum += request->a[i] * request->b[i];
    sum = gyre_block_sum_f32(gyre, sum);
    if (gyre_lane(gyre) == 0)
        reply->sum = sum;
    return GYRE_REPLY;
}
