/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_MATH_F32_H
#define GYRE_KERNELS_MATH_F32_H

#include <gyre/message.h>

#define MATH_F32_REQUEST(FIELD) FIELD(f32, x) FIELD(f32, y) FIELD(f32, z) FIELD(f32, unit)
GYRE_MESSAGE(math_f32_request, MATH_F32_REQUEST)
#define MATH_F32_REPLY(FIELD)                                                                                \
    FIELD(f32, fabs_x)                                                                                       \
    FIELD(f32, floor_x)                                                                                      \
    FIELD(f32, ceil_x)                                                                                       \
    FIELD(f32, trunc_x)                                                                                      \
    FIELD(f32, round_x)                                                                                      \
    FIELD(f32, sqrt_x)                                                                                       \
    FIELD(f32, cbrt_x)                                                                                       \
    FIELD(f32, exp_x)                                                                                        \
    FIELD(f32, exp2_x)                                                                                       \
    FIELD(f32, log_x)                                                                                        \
    FIELD(f32, log2_x)                                                                                       \
    FIELD(f32, log10_x)                                                                                      \
    FIELD(f32, sin_x)                                                                                        \
    FIELD(f32, cos_x)                                                                                        \
    FIELD(f32, tan_x)                                                                                        \
    FIELD(f32, asin_x)                                                                                       \
    FIELD(f32, acos_x)                                                                                       \
    FIELD(f32, atan_x)                                                                                       \
    FIELD(f32, sinh_x)                                                                                       \
    FIELD(f32, cosh_x)                                                                                       \
    FIELD(f32, tanh_x)                                                                                       \
    FIELD(f32, fmin_xy)                                                                                      \
    FIELD(f32, fmax_xy)                                                                                      \
    FIELD(f32, atan2_xy) FIELD(f32, pow_xy) FIELD(f32, fmod_xy) FIELD(f32, hypot_xy) FIELD(f32, fma_xyz)
GYRE_MESSAGE(math_f32_reply, MATH_F32_REPLY)

#endif
