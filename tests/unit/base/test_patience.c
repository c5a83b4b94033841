/* SPDX-License-Identifier: Apache-2.0 */
/* When a wait that spins lets others run (gyre/waiting.h). */
#include "gyre/waiting.h"
#include "unit/unit.h"

/* A wait that looks in vain `turns` times: how often others ran, and whether they did last. */
static int wait_for(gyre_patience *patience, uint64_t turns)
{
    int times = 0, ran = 0;
    gyre_patience_begin(patience);
    for (uint64_t turn = 1; turn <= turns; turn++)
        times += ran = gyre_patience_pause(patience, turn);
    gyre_patience_end(patience, ran);
    return times;
}

static gyre_patience of_one_processor(void)
{
    gyre_patience patience = {0};
    ck_assert_int_eq(wait_for(&patience, GYRE_PATIENCE_TURNS), 1);
    ck_assert_int_eq(wait_for(&patience, GYRE_PATIENCE_TURNS), 1);
    return patience;
}

START_TEST(a_wait_is_patient_at_first)
{
    gyre_patience patience = {0};
    ck_assert_int_eq(wait_for(&patience, GYRE_PATIENCE_TURNS - 1), 0);
    ck_assert_int_eq(wait_for(&patience, 3 * GYRE_PATIENCE_TURNS), 3);
}
END_TEST

START_TEST(who_shares_a_processor_lets_others_run_soon)
{
    gyre_patience patience = of_one_processor();
    ck_assert_int_eq(wait_for(&patience, GYRE_HASTY_TURNS - 1), 0);
    ck_assert_int_eq(wait_for(&patience, GYRE_HASTY_TURNS), 1);
    ck_assert_int_eq(wait_for(&patience, GYRE_PATIENCE_TURNS - 1), GYRE_HASTY_YIELDS);
}
END_TEST

START_TEST(one_wait_is_no_sign)
{
    gyre_patience patience = {0};
    wait_for(&patience, GYRE_PATIENCE_TURNS);
    wait_for(&patience, 1);
    wait_for(&patience, GYRE_PATIENCE_TURNS);
    ck_assert_int_eq(wait_for(&patience, GYRE_HASTY_TURNS), 0);
}
END_TEST

START_TEST(now_and_then_it_is_patient_all_the_same)
{
    gyre_patience patience = of_one_processor();
    for (int wait = 1; wait < 4 * GYRE_PATIENCE_PROBE; wait++) {
        const int probes = wait % GYRE_PATIENCE_PROBE == 0;
        ck_assert_int_eq(wait_for(&patience, probes ? GYRE_PATIENCE_TURNS : GYRE_HASTY_TURNS), 1);
    }
}
END_TEST

START_TEST(who_has_come_apart_is_patient_again)
{
    gyre_patience patience = of_one_processor();
    for (int wait = 0; wait < GYRE_PATIENCE_PROBE; wait++)
        wait_for(&patience, GYRE_HASTY_TURNS + 1);
    ck_assert_int_eq(wait_for(&patience, GYRE_PATIENCE_TURNS - 1), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("patience");
    TCase *cases = tcase_create("waits");
    tcase_add_test(cases, a_wait_is_patient_at_first);
    tcase_add_test(cases, who_shares_a_processor_lets_others_run_soon);
    tcase_add_test(cases, one_wait_is_no_sign);
    tcase_add_test(cases, now_and_then_it_is_patient_all_the_same);
    tcase_add_test(cases, who_has_come_apart_is_patient_again);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
