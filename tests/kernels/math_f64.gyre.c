/* SPDX-License-Identifier: Apache-2.0 */
/* Every math function on f64. */
#include <gyre/kernel.h>

#include "math_f64.h"

GYRE_KERNEL(math_f64, math_f64_request, math_f64_reply)
{
    const f64 x = request->x, y = request->y, unit = request->unit;
    const f64 positive = fabs(x);
    reply->fabs_x = fabs(x);
    reply->floor_x = floor(x);
    reply->ceil_x = ceil(x);
    reply->trunc_x = trunc(x);
    reply->round_x = round(x);
    reply->sqrt_x = sqrt(positive);
    reply->cbrt_x = cbrt(x);
    reply->exp_x = exp(x);
    reply->exp2_x = exp2(x);
    reply->log_x = log(positive);
    reply->log2_x = log2(positive);
    reply->log10_x = log10(positive);
    reply->sin_x = sin(x);
    reply->cos_x = cos(x);
    reply->tan_x = tan(x);
    reply->asin_x = asin(unit);
    reply->acos_x = acos(unit);
    reply->atan_x = atan(x);
    reply->sinh_x = sinh(x);
    reply->cosh_x = cosh(x);
    reply->tanh_x = tanh(x);
    reply->fmin_xy = fmin(x, y);
    reply->fmax_xy = fmax(x, y);
    reply->atan2_xy = atan2(x, y);
    reply->pow_xy = pow(positive, y);
    reply->fmod_xy = fmod(x, y);
    reply->hypot_xy = hypot(x, y);
    reply->fma_xyz = fma(x, y, request->z);
    return GYRE_REPLY;
}
