/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_REDUCE_H
#define GYRE_KERNELS_REDUCE_H

#include <gyre/message.h>

#define REDUCE_REQUEST(FIELD) FIELD(f32, values[256]) FIELD(u32, from_lane)
GYRE_MESSAGE(reduce_request, REDUCE_REQUEST)
#define REDUCE_OF(FIELD, T) FIELD(T, T##_sum) FIELD(T, T##_least) FIELD(T, T##_most) FIELD(T, T##_sent)
#define REDUCE_REPLY(FIELD)                                                                                  \
    REDUCE_OF(FIELD, u32)                                                                                    \
    REDUCE_OF(FIELD, i32)                                                                                    \
    REDUCE_OF(FIELD, u64) REDUCE_OF(FIELD, i64) REDUCE_OF(FIELD, f32) REDUCE_OF(FIELD, f64) FIELD(u32, agree)
GYRE_MESSAGE(reduce_reply, REDUCE_REPLY)

#endif
