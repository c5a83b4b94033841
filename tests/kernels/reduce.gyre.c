/* SPDX-License-Identifier: Apache-2.0 */
/* Every block function on every type. */
#include <gyre/kernel.h>

#include "reduce.h"

/* Every lane gets the results; lane 0 writes them, and all confirm that they have the same. */
#define REDUCE(T, value)                                                                                     \
    do {                                                                                                     \
        const T mine = (value);                                                                              \
        const T sum = gyre_block_sum_##T(gyre, mine), least = gyre_block_min_##T(gyre, mine);                \
        const T most = gyre_block_max_##T(gyre, mine);                                                       \
        const T sent = gyre_block_broadcast_##T(gyre, mine, request->from_lane);                             \
        if (gyre_lane(gyre) == 0) {                                                                          \
            reply->T##_sum = sum;                                                                            \
            reply->T##_least = least;                                                                        \
            reply->T##_most = most;                                                                          \
            reply->T##_sent = sent;                                                                          \
        }                                                                                                    \
        gyre_barrier(gyre);                                                                                  \
        agree &= reply->T##_sum == sum && reply->T##_least == least && reply->T##_most == most &&            \
                 reply->T##_sent == sent;                                                                    \
    } while (0)

GYRE_BLOCK_KERNEL(reduce, reduce_request, reduce_reply, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    const f32 x = request->values[lane % 256];
    u32 agree = 1;
    REDUCE(u32, (u32)(i32)x);
    REDUCE(i32, (i32)x);
    REDUCE(u64, (u64)(i64)x * 1000003u);
    REDUCE(i64, (i64)x * 1000003);
    REDUCE(f32, x * 1.1f);
    REDUCE(f64, (f64)x * 1.1);
    agree = gyre_block_sum_u32(gyre, agree);
    if (lane == 0)
        reply->agree = agree;
    return GYRE_REPLY;
}
