/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numbers, combined (core/types/fold.h): floats' special values, lengths around those of vectors, and the caller's settings. */
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/types/fold.h"

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double folded(enum gyre_fold_rule rule, double left, double right)
{
    double out = 7;
    gyre_fold(GYRE_SCALAR_F64, rule, &out, &left, &right, 1);
    gyre_fold(GYRE_SCALAR_F64, rule, &left, &left, &right, 1);
    ck_assert_uint_eq(bits_of(out), bits_of(left)); /* in place as well */
    return out;
}

START_TEST(zeros_have_an_order)
{
    ck_assert_uint_eq(bits_of(folded(GYRE_FOLD_MIN, 0.0, -0.0)), bits_of(-0.0));
    ck_assert_uint_eq(bits_of(folded(GYRE_FOLD_MIN, -0.0, 0.0)), bits_of(-0.0));
    ck_assert_uint_eq(bits_of(folded(GYRE_FOLD_MAX, 0.0, -0.0)), bits_of(0.0));
    ck_assert_uint_eq(bits_of(folded(GYRE_FOLD_MAX, -0.0, 0.0)), bits_of(0.0));
    ck_assert_uint_eq(bits_of(folded(GYRE_FOLD_MAX, -0.0, -0.0)), bits_of(-0.0));
}
END_TEST

START_TEST(every_nan_is_the_same)
{
    const uint64_t plain = UINT64_C(0x7ff8000000000000), other = UINT64_C(0xfff4000000000123);
    double with_payload;
    memcpy(&with_payload, &other, sizeof with_payload);
    for (int rule = GYRE_FOLD_SUM; rule <= GYRE_FOLD_MAX; rule++) {
        ck_assert_uint_eq(bits_of(folded((enum gyre_fold_rule)rule, with_payload, -INFINITY)), plain);
        ck_assert_uint_eq(bits_of(folded((enum gyre_fold_rule)rule, 1.0, with_payload)), plain);
    }
    ck_assert_uint_eq(bits_of(folded(GYRE_FOLD_SUM, INFINITY, -INFINITY)), plain);
    ck_assert_double_eq(folded(GYRE_FOLD_MIN, -INFINITY, INFINITY), -INFINITY);
    ck_assert_double_eq(folded(GYRE_FOLD_MAX, -INFINITY, 3.0), 3.0);
}
END_TEST

/* Vectors and the rest behind them: each element is that of its operands, and none beyond is written. */
START_TEST(arrays_of_every_length_are_combined)
{
    enum { MOST = 70 };
    float left[MOST + 1], right[MOST + 1], out[MOST + 1];
    for (size_t count = 0; count <= MOST; count++) {
        for (size_t i = 0; i <= MOST; i++) {
            left[i] = (float)(i * 7 % 13) - 6.0f;
            right[i] = (float)(i * 5 % 11) - 5.0f;
            out[i] = 99.0f;
        }
        gyre_fold(GYRE_SCALAR_F32, GYRE_FOLD_MAX, out, left, right, count);
        for (size_t i = 0; i <= MOST; i++)
            ck_assert_float_eq(out[i], i >= count ? 99.0f : left[i] > right[i] ? left[i] : right[i]);
    }
}
END_TEST

START_TEST(integers_wrap_around)
{
    int32_t narrow[] = {INT32_MAX, INT32_MIN}, one[] = {1, -1};
    int64_t wide = INT64_MIN, minus = -1;
    gyre_fold(GYRE_SCALAR_I32, GYRE_FOLD_SUM, narrow, narrow, one, 2);
    gyre_fold(GYRE_SCALAR_I64, GYRE_FOLD_SUM, &wide, &wide, &minus, 1);
    ck_assert_int_eq(narrow[0], INT32_MIN);
    ck_assert_int_eq(narrow[1], INT32_MAX);
    ck_assert_int_eq(wide, INT64_MAX);
}
END_TEST

/* A caller that rounds upwards gets the bytes that others get, and rounds upwards afterwards. */
START_TEST(settings_of_the_caller_do_not_count)
{
    const double third = 1.0 / 3.0;
    fenv_t before;
    const double expected = folded(GYRE_FOLD_SUM, 1.0, third);
    ck_assert_int_eq(fesetround(FE_UPWARD), 0);
    gyre_fold_enter(&before);
    const double entered = folded(GYRE_FOLD_SUM, 1.0, third), small = folded(GYRE_FOLD_SUM, 1.0, DBL_MIN);
    gyre_fold_leave(&before);
    ck_assert_int_eq(fegetround(), FE_UPWARD);
    const double upward = folded(GYRE_FOLD_SUM, 1.0, DBL_MIN);
    fesetround(FE_TONEAREST);
    ck_assert_uint_eq(bits_of(entered), bits_of(expected));
    ck_assert_double_eq(small, 1.0);
    ck_assert_double_gt(upward, 1.0);
}
END_TEST

START_TEST(only_numbers_have_a_size)
{
    ck_assert_uint_eq(gyre_fold_size(GYRE_SCALAR_F32), 4);
    ck_assert_uint_eq(gyre_fold_size(GYRE_SCALAR_I64), 8);
    ck_assert_uint_eq(gyre_fold_size(GYRE_SCALAR_U16), 0);
    ck_assert_uint_eq(gyre_fold_size(GYRE_SCALAR_NO), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fold");
    TCase *tests = tcase_create("fold");
    tcase_add_test(tests, zeros_have_an_order);
    tcase_add_test(tests, every_nan_is_the_same);
    tcase_add_test(tests, arrays_of_every_length_are_combined);
    tcase_add_test(tests, integers_wrap_around);
    tcase_add_test(tests, settings_of_the_caller_do_not_count);
    tcase_add_test(tests, only_numbers_have_a_size);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
