/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_FLOAT_BITS_H
#define GYRE_KERNELS_FLOAT_BITS_H

#include <gyre/message.h>

#define FLOAT_BITS_REQUEST(FIELD) FIELD(f32, x) FIELD(f64, y) FIELD(u32, bits) FIELD(u64, wide)
GYRE_MESSAGE(float_bits_request, FLOAT_BITS_REQUEST)
#define FLOAT_BITS_REPLY(FIELD)                                                                              \
    FIELD(u32, bits)                                                                                         \
    FIELD(u64, wide)                                                                                         \
    FIELD(f32, x)                                                                                            \
    FIELD(f64, y)                                                                                            \
    FIELD(f32, next)                                                                                         \
    FIELD(i32, exponent) FIELD(u32, kind) FIELD(i32, truncated) FIELD(f32, narrowed) FIELD(f64, widened)
GYRE_MESSAGE(float_bits_reply, FLOAT_BITS_REPLY)

#endif
