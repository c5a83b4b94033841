/* SPDX-License-Identifier: Apache-2.0 */
/* Every math function on f32. */
#include <gyre/kernel.h>

#include "math_f32.h"

GYRE_KERNEL(math_f32, math_f32_request, math_f32_reply)
{
    const f32 x = request->x, y = request->y, unit = request->unit;
    const f32 positive = fabsf(x);
    reply->fabs_x = fabsf(x);
    reply->floor_x = floorf(x);
    reply->ceil_x = ceilf(x);
    reply->trunc_x = truncf(x);
    reply->round_x = roundf(x);
    reply->sqrt_x = sqrtf(positive);
    reply->cbrt_x = cbrtf(x);
    reply->exp_x = expf(x);
    reply->exp2_x = exp2f(x);
    reply->log_x = logf(positive);
    reply->log2_x = log2f(positive);
    reply->log10_x = log10f(positive);
    reply->sin_x = sinf(x);
    reply->cos_x = cosf(x);
    reply->tan_x = tanf(x);
    reply->asin_x = asinf(unit);
    reply->acos_x = acosf(unit);
    reply->atan_x = atanf(x);
    reply->sinh_x = sinhf(x);
    reply->cosh_x = coshf(x);
    reply->tanh_x = tanhf(x);
    reply->fmin_xy = fminf(x, y);
    reply->fmax_xy = fmaxf(x, y);
    reply->atan2_xy = atan2f(x, y);
    reply->pow_xy = powf(positive, y);
    reply->fmod_xy = fmodf(x, y);
    reply->hypot_xy = hypotf(x, y);
    reply->fma_xyz = fmaf(x, y, request->z);
    return GYRE_REPLY;
}
