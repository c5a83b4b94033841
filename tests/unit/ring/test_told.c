/* SPDX-License-Identifier: Apache-2.0 */
/* What a client tells of its messages' times: it arrives as it was measured, and nothing else than times is believed. */
#include <string.h>

#include "core/stages/told.h"
#include "unit/unit.h"

enum { TRIP = GYRE_OBSERVE_ROUND_TRIP, LAST = GYRE_OBSERVE_BUCKETS - 1 };

static struct gyre_told_times told;
static gyre_observe_histogram own[GYRE_OBSERVE_TIMES], shown[GYRE_OBSERVE_TIMES];

static void setup(void)
{
    memset(&told, 0, sizeof told);
    memset(own, 0, sizeof own);
    memset(shown, 0, sizeof shown);
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
        own[time].time = shown[time].time = time;
}

static void measure(uint32_t time, uint64_t ns)
{
    const uint32_t bucket = gyre_observe_bucket(ns);
    own[time].buckets[bucket]++;
    own[time].sum_ns += ns;
    gyre_told_store(&told, &own[time], bucket);
}

START_TEST(what_was_measured_arrives)
{
    shown[TRIP].record = 7;
    for (uint64_t ns = 1; ns < UINT64_C(1) << 40; ns += ns / 3 + 1)
        for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
            measure(time, ns + time);
    gyre_told_take(&told, shown);
    ck_assert_uint_eq(shown[TRIP].record, 7);
    shown[TRIP].record = 0;
    ck_assert_mem_eq(shown, own, sizeof own);
    measure(TRIP, 100);
    gyre_told_take(&told, shown);
    ck_assert_mem_eq(shown, own, sizeof own);
}
END_TEST

START_TEST(counts_never_fall)
{
    measure(TRIP, 1000);
    measure(TRIP, 1001);
    gyre_told_take(&told, shown);
    memset(&told, 0, sizeof told);
    gyre_told_take(&told, shown);
    ck_assert_mem_eq(shown, own, sizeof own);
}
END_TEST

START_TEST(a_count_that_cannot_be_is_bounded)
{
    memset(&told, 0xff, sizeof told);
    gyre_told_take(&told, shown);
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        ck_assert_uint_eq(shown[TRIP].buckets[i], GYRE_TOLD_MOST);
}
END_TEST

/* A sum that no messages in these buckets can have becomes the nearest that they can have. */
START_TEST(a_sum_is_one_that_the_buckets_allow)
{
    const uint32_t bucket = gyre_observe_bucket(1000);
    told.buckets[TRIP][bucket] = 3;
    told.sums_ns[TRIP] = 1;
    gyre_told_take(&told, shown);
    ck_assert_uint_eq(shown[TRIP].sum_ns, 3 * gyre_observe_edge(bucket));
    told.sums_ns[TRIP] = UINT64_MAX;
    gyre_told_take(&told, shown);
    ck_assert_uint_eq(shown[TRIP].sum_ns, 3 * gyre_observe_edge(bucket + 1));
    told.buckets[TRIP][LAST] = 1; /* longer than any edge */
    told.sums_ns[TRIP] = UINT64_C(1) << 40;
    gyre_told_take(&told, shown);
    ck_assert_uint_eq(shown[TRIP].sum_ns, UINT64_C(1) << 40);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("told");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, what_was_measured_arrives);
    tcase_add_test(all, counts_never_fall);
    tcase_add_test(all, a_count_that_cannot_be_is_bounded);
    tcase_add_test(all, a_sum_is_one_that_the_buckets_allow);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
