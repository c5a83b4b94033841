/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Math functions under C's names, as OpenCL C, where one name serves all types: `sqrtf` is for f32, and `sqrt` for
 * f64, even with an f32 argument, as in C. Included by opencl.h.
 */
#ifndef GYRE_DIALECT_OPENCL_MATH_H
#define GYRE_DIALECT_OPENCL_MATH_H

#define GYRE_MATH_1_(name_, type_, function_)                                                                \
    GYRE_HELPER gyre_##type_ name_(gyre_##type_ x)                                                           \
    {                                                                                                        \
        return function_(x);                                                                                 \
    }
#define GYRE_MATH_2_(name_, type_, function_)                                                                \
    GYRE_HELPER gyre_##type_ name_(gyre_##type_ x, gyre_##type_ y)                                           \
    {                                                                                                        \
        return function_(x, y);                                                                              \
    }
#define GYRE_MATH_3_(name_, type_, function_)                                                                \
    GYRE_HELPER gyre_##type_ name_(gyre_##type_ x, gyre_##type_ y, gyre_##type_ z)                           \
    {                                                                                                        \
        return function_(x, y, z);                                                                           \
    }

GYRE_MATH_1_(gyre_math_sqrtf_, f32, sqrt)
GYRE_MATH_1_(gyre_math_fabsf_, f32, fabs)
GYRE_MATH_1_(gyre_math_floorf_, f32, floor)
GYRE_MATH_1_(gyre_math_ceilf_, f32, ceil)
GYRE_MATH_1_(gyre_math_truncf_, f32, trunc)
GYRE_MATH_1_(gyre_math_roundf_, f32, round)
GYRE_MATH_1_(gyre_math_sinf_, f32, sin)
GYRE_MATH_1_(gyre_math_cosf_, f32, cos)
GYRE_MATH_1_(gyre_math_tanf_, f32, tan)
GYRE_MATH_1_(gyre_math_asinf_, f32, asin)
GYRE_MATH_1_(gyre_math_acosf_, f32, acos)
GYRE_MATH_1_(gyre_math_atanf_, f32, atan)
GYRE_MATH_1_(gyre_math_expf_, f32, exp)
GYRE_MATH_1_(gyre_math_exp2f_, f32, exp2)
GYRE_MATH_1_(gyre_math_logf_, f32, log)
GYRE_MATH_1_(gyre_math_log2f_, f32, log2)
GYRE_MATH_1_(gyre_math_log10f_, f32, log10)
GYRE_MATH_1_(gyre_math_cbrtf_, f32, cbrt)
GYRE_MATH_1_(gyre_math_tanhf_, f32, tanh)
GYRE_MATH_1_(gyre_math_sinhf_, f32, sinh)
GYRE_MATH_1_(gyre_math_coshf_, f32, cosh)
GYRE_MATH_2_(gyre_math_fminf_, f32, fmin)
GYRE_MATH_2_(gyre_math_fmaxf_, f32, fmax)
GYRE_MATH_2_(gyre_math_atan2f_, f32, atan2)
GYRE_MATH_2_(gyre_math_powf_, f32, pow)
GYRE_MATH_2_(gyre_math_fmodf_, f32, fmod)
GYRE_MATH_2_(gyre_math_hypotf_, f32, hypot)
GYRE_MATH_3_(gyre_math_fmaf_, f32, fma)

#ifdef GYRE_HAS_F64
GYRE_MATH_1_(gyre_math_sqrt_, f64, sqrt)
GYRE_MATH_1_(gyre_math_fabs_, f64, fabs)
GYRE_MATH_1_(gyre_math_floor_, f64, floor)
GYRE_MATH_1_(gyre_math_ceil_, f64, ceil)
GYRE_MATH_1_(gyre_math_trunc_, f64, trunc)
GYRE_MATH_1_(gyre_math_round_, f64, round)
GYRE_MATH_1_(gyre_math_sin_, f64, sin)
GYRE_MATH_1_(gyre_math_cos_, f64, cos)
GYRE_MATH_1_(gyre_math_tan_, f64, tan)
GYRE_MATH_1_(gyre_math_asin_, f64, asin)
GYRE_MATH_1_(gyre_math_acos_, f64, acos)
GYRE_MATH_1_(gyre_math_atan_, f64, atan)
GYRE_MATH_1_(gyre_math_exp_, f64, exp)
GYRE_MATH_1_(gyre_math_exp2_, f64, exp2)
GYRE_MATH_1_(gyre_math_log_, f64, log)
GYRE_MATH_1_(gyre_math_log2_, f64, log2)
GYRE_MATH_1_(gyre_math_log10_, f64, log10)
GYRE_MATH_1_(gyre_math_cbrt_, f64, cbrt)
GYRE_MATH_1_(gyre_math_tanh_, f64, tanh)
GYRE_MATH_1_(gyre_math_sinh_, f64, sinh)
GYRE_MATH_1_(gyre_math_cosh_, f64, cosh)
GYRE_MATH_2_(gyre_math_fmin_, f64, fmin)
GYRE_MATH_2_(gyre_math_fmax_, f64, fmax)
GYRE_MATH_2_(gyre_math_atan2_, f64, atan2)
GYRE_MATH_2_(gyre_math_pow_, f64, pow)
GYRE_MATH_2_(gyre_math_fmod_, f64, fmod)
GYRE_MATH_2_(gyre_math_hypot_, f64, hypot)
GYRE_MATH_3_(gyre_math_fma_, f64, fma)
#endif

/*
 * PoCL renames OpenCL's functions by macros (opencl_names.h). The functions above call these macros, so they are
 * undefined only here.
 */
#undef sqrt
#undef fabs
#undef floor
#undef ceil
#undef trunc
#undef round
#undef sin
#undef cos
#undef tan
#undef asin
#undef acos
#undef atan
#undef exp
#undef exp2
#undef log
#undef log2
#undef log10
#undef cbrt
#undef tanh
#undef sinh
#undef cosh
#undef fmin
#undef fmax
#undef atan2
#undef pow
#undef fmod
#undef hypot
#undef fma

/*
 * Defined only now, because the functions above call OpenCL's own functions; with parameters, so that members may have
 * these names.
 */
#define sqrtf(x)      gyre_math_sqrtf_(x)
#define fabsf(x)      gyre_math_fabsf_(x)
#define floorf(x)     gyre_math_floorf_(x)
#define ceilf(x)      gyre_math_ceilf_(x)
#define truncf(x)     gyre_math_truncf_(x)
#define roundf(x)     gyre_math_roundf_(x)
#define sinf(x)       gyre_math_sinf_(x)
#define cosf(x)       gyre_math_cosf_(x)
#define tanf(x)       gyre_math_tanf_(x)
#define asinf(x)      gyre_math_asinf_(x)
#define acosf(x)      gyre_math_acosf_(x)
#define atanf(x)      gyre_math_atanf_(x)
#define expf(x)       gyre_math_expf_(x)
#define exp2f(x)      gyre_math_exp2f_(x)
#define logf(x)       gyre_math_logf_(x)
#define log2f(x)      gyre_math_log2f_(x)
#define log10f(x)     gyre_math_log10f_(x)
#define cbrtf(x)      gyre_math_cbrtf_(x)
#define tanhf(x)      gyre_math_tanhf_(x)
#define sinhf(x)      gyre_math_sinhf_(x)
#define coshf(x)      gyre_math_coshf_(x)
#define fminf(x, y)   gyre_math_fminf_(x, y)
#define fmaxf(x, y)   gyre_math_fmaxf_(x, y)
#define atan2f(x, y)  gyre_math_atan2f_(x, y)
#define powf(x, y)    gyre_math_powf_(x, y)
#define fmodf(x, y)   gyre_math_fmodf_(x, y)
#define hypotf(x, y)  gyre_math_hypotf_(x, y)
#define fmaf(x, y, z) gyre_math_fmaf_(x, y, z)
#ifdef GYRE_HAS_F64
#define sqrt(x)      gyre_math_sqrt_(x)
#define fabs(x)      gyre_math_fabs_(x)
#define floor(x)     gyre_math_floor_(x)
#define ceil(x)      gyre_math_ceil_(x)
#define trunc(x)     gyre_math_trunc_(x)
#define round(x)     gyre_math_round_(x)
#define sin(x)       gyre_math_sin_(x)
#define cos(x)       gyre_math_cos_(x)
#define tan(x)       gyre_math_tan_(x)
#define asin(x)      gyre_math_asin_(x)
#define acos(x)      gyre_math_acos_(x)
#define atan(x)      gyre_math_atan_(x)
#define exp(x)       gyre_math_exp_(x)
#define exp2(x)      gyre_math_exp2_(x)
#define log(x)       gyre_math_log_(x)
#define log2(x)      gyre_math_log2_(x)
#define log10(x)     gyre_math_log10_(x)
#define cbrt(x)      gyre_math_cbrt_(x)
#define tanh(x)      gyre_math_tanh_(x)
#define sinh(x)      gyre_math_sinh_(x)
#define cosh(x)      gyre_math_cosh_(x)
#define fmin(x, y)   gyre_math_fmin_(x, y)
#define fmax(x, y)   gyre_math_fmax_(x, y)
#define atan2(x, y)  gyre_math_atan2_(x, y)
#define pow(x, y)    gyre_math_pow_(x, y)
#define fmod(x, y)   gyre_math_fmod_(x, y)
#define hypot(x, y)  gyre_math_hypot_(x, y)
#define fma(x, y, z) gyre_math_fma_(x, y, z)
#endif

#endif
