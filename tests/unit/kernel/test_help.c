/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread is told that wants to handle a kernel's requests while the kernel has no device side (core/kernel/help.h). */
#include "core/kernel/help.h"
#include "unit/unit.h"

START_TEST(one_without_a_device_side_is_helped_later)
{
    gyre_kernel kernel = {.lock = PTHREAD_MUTEX_INITIALIZER, .helped = true};
    ck_assert_int_eq(gyre_kernel_help(&kernel), GYRE_AGAIN);
    ck_assert_uint_eq(kernel.turn.helping, 0);
}
END_TEST

START_TEST(one_that_was_not_launched_for_it_is_never_helped)
{
    gyre_kernel kernel = {.lock = PTHREAD_MUTEX_INITIALIZER};
    ck_assert_int_eq(gyre_kernel_help(&kernel), GYRE_UNIMPLEMENTED);
    ck_assert_uint_eq(kernel.turn.helping, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernel_help");
    TCase *all = tcase_create("all");
    tcase_add_test(all, one_without_a_device_side_is_helped_later);
    tcase_add_test(all, one_that_was_not_launched_for_it_is_never_helped);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
