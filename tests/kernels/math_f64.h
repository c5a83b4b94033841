/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_MATH_F64_H
#define GYRE_KERNELS_MATH_F64_H

#include <gyre/message.h>

#define MATH_F64_REQUEST(FIELD) FIELD(f64, x) FIELD(f64, y) FIELD(f64, z) FIELD(f64, unit)
GYRE_MESSAGE(math_f64_request, MATH_F64_REQUEST)
#define MATH_F64_REPLY(FIELD)                                                                                \
    FIELD(f64, fabs_x)                                                                                       \
    FIELD(f64, floor_x)                                                                                      \
    FIELD(f64, ceil_x)                                                                                       \
    FIELD(f64, trunc_x)                                                                                      \
    FIELD(f64, round_x)                                                                                      \
    FIELD(f64, sqrt_x)                                                                                       \
    FIELD(f64, cbrt_x)                                                                                       \
    FIELD(f64, exp_x)                                                                                        \
    FIELD(f64, exp2_x)                                                                                       \
    FIELD(f64, log_x)                                                                                        \
    FIELD(f64, log2_x)                                                                                       \
    FIELD(f64, log10_x)                                                                                      \
    FIELD(f64, sin_x)                                                                                        \
    FIELD(f64, cos_x)                                                                                        \
    FIELD(f64, tan_x)                                                                                        \
    FIELD(f64, asin_x)                                                                                       \
    FIELD(f64, acos_x)                                                                                       \
    FIELD(f64, atan_x)                                                                                       \
    FIELD(f64, sinh_x)                                                                                       \
    FIELD(f64, cosh_x)                                                                                       \
    FIELD(f64, tanh_x)                                                                                       \
    FIELD(f64, fmin_xy)                                                                                      \
    FIELD(f64, fmax_xy)                                                                                      \
    FIELD(f64, atan2_xy) FIELD(f64, pow_xy) FIELD(f64, fmod_xy) FIELD(f64, hypot_xy) FIELD(f64, fma_xyz)
GYRE_MESSAGE(math_f64_reply, MATH_F64_REPLY)

#endif
