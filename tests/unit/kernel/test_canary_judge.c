/* SPDX-License-Identifier: Apache-2.0 */
/* Which of two handlers is worse (core/change/canary_judge.c): each bound from both sides. */
#include "core/change/canary.h"
#include "unit/unit.h"

enum { NO_WORSE = GYRE_CANARY_NO_WORSE, FAILS = GYRE_CANARY_FAILS_MORE, SLOWER = GYRE_CANARY_SLOWER };

/* Of 10000 and 10000 messages, 100 that failed: a deviation is about 14 to 16 messages. */
static const struct {
    struct gyre_canary_seen seen;
    int before, at_end;
} rows[] = {
    {{.handled = 10000, .next_handled = 10000}, NO_WORSE, NO_WORSE},
    {{.handled = 10000, .failed = 100, .next_handled = 10000, .next_failed = 140}, NO_WORSE, NO_WORSE},
    {{.handled = 10000, .failed = 100, .next_handled = 10000, .next_failed = 150}, NO_WORSE, FAILS},
    {{.handled = 10000, .failed = 100, .next_handled = 10000, .next_failed = 175}, NO_WORSE, FAILS},
    {{.handled = 10000, .failed = 100, .next_handled = 10000, .next_failed = 200}, FAILS, FAILS},
    {{.handled = 10000, .failed = 500, .next_handled = 10000}, NO_WORSE, NO_WORSE},
    {{.next_handled = 1, .next_failed = 1}, NO_WORSE, FAILS},
    {{.next_handled = 99, .next_failed = 63}, NO_WORSE, FAILS},
    {{.next_handled = 99, .next_failed = 64}, FAILS, FAILS},
    {{.handled = 64, .handled_ns = 64000, .next_handled = 64, .next_handled_ns = 130000}, NO_WORSE, SLOWER},
    {{.handled = 64, .handled_ns = 64000, .next_handled = 64, .next_handled_ns = 128000}, NO_WORSE, NO_WORSE},
    {{.handled = 64, .handled_ns = 6400, .next_handled = 64, .next_handled_ns = 64000}, NO_WORSE, NO_WORSE},
    {{.handled = 63, .handled_ns = 63000, .next_handled = 64, .next_handled_ns = 640000}, NO_WORSE, NO_WORSE},
    {{.handled = 64, .handled_ns = 64000, .next_handled = 63, .next_handled_ns = 630000}, NO_WORSE, NO_WORSE},
    {{.handled = 10, .next_handled = 10, .deaths = 1}, GYRE_CANARY_DIED, GYRE_CANARY_DIED},
};

START_TEST(each_bound_holds_from_both_sides)
{
    ck_assert_int_eq(gyre_canary_judge(&rows[_i].seen, false), rows[_i].before);
    ck_assert_int_eq(gyre_canary_judge(&rows[_i].seen, true), rows[_i].at_end);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("canary_judge");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, each_bound_holds_from_both_sides, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
