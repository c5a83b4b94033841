/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of numbers, combined element by element (fold.h). The loops have no branches and no aliases, so that compilers make vector
 * code of them, at -O3, with which this file is compiled. Minima and maxima of floats choose bits by masks: `a < b ? a : b` would
 * treat NaN and zeros as the order of the operands has it.
 */
#include "core/types/fold.h"

#include <string.h>

#define NAN_32 UINT32_C(0x7fc00000)
#define NAN_64 UINT64_C(0x7ff8000000000000)

/* ---- one element ---- */

#define INTEGER_RULES(type, wide)                                                                            \
    static inline type type##_sum(type a, type b)                                                            \
    {                                                                                                        \
        return (type)((wide)a + (wide)b); /* of the unsigned type, which wraps around */                     \
    }                                                                                                        \
    static inline type type##_min(type a, type b)                                                            \
    {                                                                                                        \
        return a < b ? a : b;                                                                                \
    }                                                                                                        \
    static inline type type##_max(type a, type b)                                                            \
    {                                                                                                        \
        return a > b ? a : b;                                                                                \
    }

INTEGER_RULES(uint32_t, uint32_t)
INTEGER_RULES(int32_t, uint32_t)
INTEGER_RULES(uint64_t, uint64_t)
INTEGER_RULES(int64_t, uint64_t)

/* Of two equal numbers all bits are equal, but for the sign of zeros: the minimum has it when one has, the maximum when both have. */
#define FLOAT_RULES(type, bits, not_a_number)                                                                \
    static inline bits type##_bits(type value)                                                               \
    {                                                                                                        \
        bits result;                                                                                         \
        memcpy(&result, &value, sizeof result);                                                              \
        return result;                                                                                       \
    }                                                                                                        \
    static inline type type##_of(bits value)                                                                 \
    {                                                                                                        \
        type result;                                                                                         \
        memcpy(&result, &value, sizeof result);                                                              \
        return result;                                                                                       \
    }                                                                                                        \
    static inline type type##_choose(bits chosen, bits is_nan)                                               \
    {                                                                                                        \
        return type##_of((chosen & ~is_nan) | (not_a_number & is_nan));                                      \
    }                                                                                                        \
    static inline type type##_sum(type a, type b)                                                            \
    {                                                                                                        \
        const type sum = a + b;                                                                              \
        return type##_choose(type##_bits(sum), (bits)0 - (bits)(sum != sum));                                \
    }                                                                                                        \
    static inline type type##_min(type a, type b)                                                            \
    {                                                                                                        \
        const bits left = type##_bits(a), right = type##_bits(b);                                            \
        const bits less = (bits)0 - (bits)(a < b), more = (bits)0 - (bits)(b < a);                           \
        const bits is_nan = (bits)0 - (bits)((a != a) | (b != b));                                           \
        return type##_choose((left & less) | (right & more) | ((left | right) & ~(less | more)), is_nan);    \
    }                                                                                                        \
    static inline type type##_max(type a, type b)                                                            \
    {                                                                                                        \
        const bits left = type##_bits(a), right = type##_bits(b);                                            \
        const bits less = (bits)0 - (bits)(a < b), more = (bits)0 - (bits)(b < a);                           \
        const bits is_nan = (bits)0 - (bits)((a != a) | (b != b));                                           \
        return type##_choose((right & less) | (left & more) | (left & right & ~(less | more)), is_nan);      \
    }

FLOAT_RULES(float, uint32_t, NAN_32)
FLOAT_RULES(double, uint64_t, NAN_64)

/* ---- arrays ---- */

#define LOOP(type, rule)                                                                                     \
    static void type##_##rule##_onto(type *restrict out, const type *restrict right, size_t count)           \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                   \
            out[i] = type##_##rule(out[i], right[i]);                                                        \
    }                                                                                                        \
    static void type##_##rule##_into(type *restrict out, const type *restrict left,                          \
                                     const type *restrict right, size_t count)                               \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                   \
            out[i] = type##_##rule(left[i], right[i]);                                                       \
    }                                                                                                        \
    static void type##_##rule##_fold(void *out, const void *left, const void *right, size_t count)           \
    {                                                                                                        \
        if (out == left)                                                                                     \
            type##_##rule##_onto(out, right, count);                                                         \
        else                                                                                                 \
            type##_##rule##_into(out, left, right, count);                                                   \
    }

#define LOOPS(type) LOOP(type, sum) LOOP(type, min) LOOP(type, max)

LOOPS(uint32_t)
LOOPS(int32_t)
LOOPS(uint64_t)
LOOPS(int64_t)
LOOPS(float)
LOOPS(double)

struct number {
    gyre_scalar scalar;
    size_t size;
    void (*rules[3])(void *out, const void *left, const void *right, size_t count);
};

#define NUMBER(scalar, type)                                                                                 \
    {                                                                                                        \
        scalar, sizeof(type),                                                                                \
        {                                                                                                    \
            type##_sum_fold, type##_min_fold, type##_max_fold                                                \
        }                                                                                                    \
    }

static const struct number NUMBERS[] = {
    NUMBER(GYRE_SCALAR_U32, uint32_t), NUMBER(GYRE_SCALAR_I32, int32_t), NUMBER(GYRE_SCALAR_U64, uint64_t),
    NUMBER(GYRE_SCALAR_I64, int64_t),  NUMBER(GYRE_SCALAR_F32, float),   NUMBER(GYRE_SCALAR_F64, double),
};

static const struct number *find_number(gyre_scalar scalar)
{
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        if (NUMBERS[i].scalar == scalar)
            return &NUMBERS[i];
    return NULL;
}

size_t gyre_fold_size(gyre_scalar scalar)
{
    const struct number *number = find_number(scalar);
    return number ? number->size : 0;
}

void gyre_fold(gyre_scalar scalar, enum gyre_fold_rule rule, void *out, const void *left, const void *right,
               size_t count)
{
    find_number(scalar)->rules[rule - GYRE_FOLD_SUM](out, left, right, count);
}

void gyre_fold_enter(fenv_t *before)
{
    fegetenv(before);
    fesetenv(FE_DFL_ENV);
}

void gyre_fold_leave(const fenv_t *before)
{
    fesetenv(before);
}
