/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point arithmetic. What is rounded to nearest is what this processor does; other roundings are switched
 * on for one operation. Approximate functions are as exact as the C library's: better than a device's, which
 * programs may not rely on either way. The compiler must not fuse: -ffp-contract=off.
 */
#include "floats.h"
#include "ops.h"

#include <fenv.h>

#define FLOAT_1(name_, from_, to_, value_)                                                                   \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]);                                                         \
        MAP(const __typeof__(from_(0)) x = from_(a[l]); d[l] = to_(value_))                                  \
    }
#define FLOAT_2(name_, from_, to_, value_)                                                                   \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        MAP(const __typeof__(from_(0)) x = from_(a[l]); const __typeof__(from_(0)) y = from_(b[l]);          \
            d[l] = to_(value_))                                                                              \
    }
#define FLOAT_3(name_, from_, to_, value_)                                                                   \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]),                           \
                       *c = lanes_at(warp, i->o[3]);                                                         \
        MAP(const __typeof__(from_(0)) x = from_(a[l]); const __typeof__(from_(0)) y = from_(b[l]);          \
            const __typeof__(from_(0)) z = from_(c[l]); d[l] = to_(value_))                                  \
    }

/* Of a number and a NaN the number; -0 is less than 0. */
#define LESSER(type_, name_)                                                                                 \
    static type_ lesser_##name_(type_ x, type_ y)                                                            \
    {                                                                                                        \
        if (x != x || y != y)                                                                                \
            return x != x ? y : x;                                                                           \
        return x < y || (x == y && signbit(x)) ? x : y;                                                      \
    }                                                                                                        \
    static type_ greater_##name_(type_ x, type_ y)                                                           \
    {                                                                                                        \
        if (x != x || y != y)                                                                                \
            return x != x ? y : x;                                                                           \
        return x > y || (x == y && !signbit(x)) ? x : y;                                                     \
    }
LESSER(float, f32)
LESSER(double, f64)

static float flushed_f32(uint64_t bits)
{
    return flush(f32_of(bits));
}

static uint64_t flushed_result(float value)
{
    return result_f32(flush(value));
}

/* add, sub, mul, fma in one rounding each; `fused_` is the C library's of that type. */
#define ARITHMETIC(name_, from_, to_, fused_)                                                                \
    FLOAT_2(add_##name_, from_, to_, x + y)                                                                  \
    FLOAT_2(sub_##name_, from_, to_, x - y)                                                                  \
    FLOAT_2(mul_##name_, from_, to_, x *y)                                                                   \
    FLOAT_2(div_##name_, from_, to_, x / y)                                                                  \
    FLOAT_3(fma_##name_, from_, to_, fused_(x, y, z))
ARITHMETIC(f32, f32_of, result_f32, fmaf)
ARITHMETIC(ftz_f32, flushed_f32, flushed_result, fmaf)
ARITHMETIC(f64, f64_of, result_f64, fma)

#define ROUNDED(round_, mode_)                                                                               \
    static void with_##round_(run_function *run, struct warp *warp, const struct instruction *i,             \
                              uint32_t mask)                                                                 \
    {                                                                                                        \
        fesetround(mode_);                                                                                   \
        run(warp, i, mask);                                                                                  \
        fesetround(FE_TONEAREST);                                                                            \
    }
ROUNDED(rz, FE_TOWARDZERO)
ROUNDED(rm, FE_DOWNWARD)
ROUNDED(rp, FE_UPWARD)

#define OTHER_WAY(operation_, round_, name_)                                                                 \
    RUN(operation_##_##round_##_##name_)                                                                     \
    {                                                                                                        \
        with_##round_(operation_##_##name_, warp, i, mask);                                                  \
    }
#define OTHER_WAYS(operation_, name_)                                                                        \
    OTHER_WAY(operation_, rz, name_)                                                                         \
    OTHER_WAY(operation_, rm, name_)                                                                         \
    OTHER_WAY(operation_, rp, name_)
FLOAT_1(sqrt_f32, f32_of, result_f32, sqrtf(x))
FLOAT_1(sqrt_f64, f64_of, result_f64, sqrt(x))
FLOAT_1(rcp_f32, f32_of, result_f32, 1.0f / x)
FLOAT_1(rcp_f64, f64_of, result_f64, 1.0 / x)
OTHER_WAYS(add, f32)
OTHER_WAYS(sub, f32)
OTHER_WAYS(mul, f32)
OTHER_WAYS(div, f32)
OTHER_WAYS(fma, f32)
OTHER_WAYS(sqrt, f32)
OTHER_WAYS(rcp, f32)
OTHER_WAYS(add, f64)
OTHER_WAYS(sub, f64)
OTHER_WAYS(mul, f64)
OTHER_WAYS(div, f64)
OTHER_WAYS(fma, f64)
OTHER_WAYS(sqrt, f64)
OTHER_WAYS(rcp, f64)

FLOAT_1(sqrt_ftz, flushed_f32, flushed_result, sqrtf(x))
FLOAT_1(rcp_ftz, flushed_f32, flushed_result, 1.0f / x)
FLOAT_1(rsqrt_f32, f32_of, result_f32, (float)(1.0 / sqrt((double)x)))
FLOAT_1(rsqrt_ftz, flushed_f32, flushed_result, (float)(1.0 / sqrt((double)x)))
FLOAT_1(sin_f32, f32_of, result_f32, (float)sin((double)x))
FLOAT_1(cos_f32, f32_of, result_f32, (float)cos((double)x))
FLOAT_1(sin_ftz, flushed_f32, flushed_result, (float)sin((double)x))
FLOAT_1(cos_ftz, flushed_f32, flushed_result, (float)cos((double)x))
FLOAT_1(ex2_f32, f32_of, result_f32, (float)exp2((double)x))
FLOAT_1(ex2_ftz, flushed_f32, flushed_result, (float)exp2((double)x))
FLOAT_1(lg2_f32, f32_of, result_f32, (float)log2((double)x))
FLOAT_1(lg2_ftz, flushed_f32, flushed_result, (float)log2((double)x))
FLOAT_1(tanh_f32, f32_of, result_f32, (float)tanh((double)x))

/* Of these a device gives the upper half of the bits: the seed of an iteration. */
static uint64_t upper_half(double value)
{
    return result_f64(value) & UINT64_C(0xffffffff00000000);
}
FLOAT_1(rcp_approx_f64, f64_of, upper_half, 1.0 / x)
FLOAT_1(rsqrt_approx_f64, f64_of, upper_half, 1.0 / sqrt(x))

FLOAT_2(min_f32, f32_of, result_f32, lesser_f32(x, y))
FLOAT_2(max_f32, f32_of, result_f32, greater_f32(x, y))
FLOAT_2(min_ftz, flushed_f32, flushed_result, lesser_f32(x, y))
FLOAT_2(max_ftz, flushed_f32, flushed_result, greater_f32(x, y))
FLOAT_2(min_f64, f64_of, result_f64, lesser_f64(x, y))
FLOAT_2(max_f64, f64_of, result_f64, greater_f64(x, y))

/* Signs are bits: a NaN keeps what it carries. The sign is that of the first operand. */
UNARY(neg_f32, uint32_t, uint32_t, x ^ 0x80000000u)
UNARY(abs_f32, uint32_t, uint32_t, x & 0x7fffffffu)
UNARY(neg_f64, uint64_t, uint64_t, x ^ UINT64_C(0x8000000000000000))
UNARY(abs_f64, uint64_t, uint64_t, x &UINT64_C(0x7fffffffffffffff))
BINARY(copysign_f32, uint32_t, uint32_t, (x & 0x80000000u) | (y & 0x7fffffffu))
BINARY(copysign_f64, uint64_t, uint64_t,
       (x & UINT64_C(0x8000000000000000)) | (y & UINT64_C(0x7fffffffffffffff)))

#define TEST(name_, from_, is_)                                                                              \
    RUN(testp_##name_)                                                                                       \
    {                                                                                                        \
        const uint64_t *a = lanes_at(warp, i->o[1]);                                                         \
        uint32_t bits = 0;                                                                                   \
        FOR_LANES(l, mask)                                                                                   \
        {                                                                                                    \
            const __typeof__(from_(0)) x = from_(a[l]);                                                      \
            bits |= (uint32_t)(is_) << l;                                                                    \
        }                                                                                                    \
        set_predicate(warp, i->o[0], mask, bits);                                                            \
    }
#define TESTS(name_, from_)                                                                                  \
    TEST(finite_##name_, from_, isfinite(x) != 0)                                                            \
    TEST(infinite_##name_, from_, isinf(x) != 0)                                                             \
    TEST(number_##name_, from_, x == x)                                                                      \
    TEST(notanumber_##name_, from_, x != x)                                                                  \
    TEST(normal_##name_, from_, isnormal(x) != 0)                                                            \
    TEST(subnormal_##name_, from_, fpclassify(x) == FP_SUBNORMAL)
TESTS(f32, f32_of)
TESTS(f64, f64_of)

#define NAMED_WAYS(operation_, name_)                                                                        \
    {#operation_ ".rn." #name_, operation_##_##name_}, {#operation_ ".rz." #name_, operation_##_rz_##name_}, \
        {#operation_ ".rm." #name_, operation_##_rm_##name_},                                                \
    {                                                                                                        \
#operation_ ".rp." #name_, operation_##_rp_##name_                                                   \
    }
#define NAMED_ALL(name_)                                                                                     \
    NAMED_WAYS(add, name_), NAMED_WAYS(sub, name_), NAMED_WAYS(mul, name_), NAMED_WAYS(div, name_),          \
        NAMED_WAYS(fma, name_), NAMED_WAYS(sqrt, name_), NAMED_WAYS(rcp, name_),                             \
        {"add." #name_, add_##name_}, {"sub." #name_, sub_##name_}, {"mul." #name_, mul_##name_},            \
        {"neg." #name_, neg_##name_}, {"abs." #name_, abs_##name_}, {"min." #name_, min_##name_},            \
        {"max." #name_, max_##name_}, {"copysign." #name_, copysign_##name_},                                \
        {"testp.finite." #name_, testp_finite_##name_}, {"testp.infinite." #name_, testp_infinite_##name_},  \
        {"testp.number." #name_, testp_number_##name_},                                                      \
        {"testp.notanumber." #name_, testp_notanumber_##name_},                                              \
        {"testp.normal." #name_, testp_normal_##name_},                                                      \
    {                                                                                                        \
        "testp.subnormal." #name_, testp_subnormal_##name_                                                   \
    }

const struct operation float_operations[] = {NAMED_ALL(f32),
                                             NAMED_ALL(f64),
                                             {"add.ftz.f32", add_ftz_f32},
                                             {"sub.ftz.f32", sub_ftz_f32},
                                             {"mul.ftz.f32", mul_ftz_f32},
                                             {"add.rn.ftz.f32", add_ftz_f32},
                                             {"sub.rn.ftz.f32", sub_ftz_f32},
                                             {"mul.rn.ftz.f32", mul_ftz_f32},
                                             {"fma.rn.ftz.f32", fma_ftz_f32},
                                             {"div.rn.ftz.f32", div_ftz_f32},
                                             {"div.full.f32", div_f32},
                                             {"div.full.ftz.f32", div_ftz_f32},
                                             {"div.approx.f32", div_f32},
                                             {"div.approx.ftz.f32", div_ftz_f32},
                                             {"sqrt.approx.f32", sqrt_f32},
                                             {"sqrt.approx.ftz.f32", sqrt_ftz},
                                             {"sqrt.rn.ftz.f32", sqrt_ftz},
                                             {"rcp.approx.f32", rcp_f32},
                                             {"rcp.approx.ftz.f32", rcp_ftz},
                                             {"rcp.rn.ftz.f32", rcp_ftz},
                                             {"rcp.approx.ftz.f64", rcp_approx_f64},
                                             {"rsqrt.approx.f32", rsqrt_f32},
                                             {"rsqrt.approx.ftz.f32", rsqrt_ftz},
                                             {"rsqrt.approx.f64", rsqrt_approx_f64},
                                             {"rsqrt.approx.ftz.f64", rsqrt_approx_f64},
                                             {"sin.approx.f32", sin_f32},
                                             {"cos.approx.f32", cos_f32},
                                             {"sin.approx.ftz.f32", sin_ftz},
                                             {"cos.approx.ftz.f32", cos_ftz},
                                             {"ex2.approx.f32", ex2_f32},
                                             {"ex2.approx.ftz.f32", ex2_ftz},
                                             {"lg2.approx.f32", lg2_f32},
                                             {"lg2.approx.ftz.f32", lg2_ftz},
                                             {"tanh.approx.f32", tanh_f32},
                                             {"min.ftz.f32", min_ftz},
                                             {"max.ftz.f32", max_ftz},
                                             {NULL, NULL}};
