/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark measures with: quantiles, medians, and floors that check what they carry. */
#include "cli/bench/floor_rings.h"
#include "cli/bench/floor_turns.h"
#include "unit/unit.h"

START_TEST(quantiles_are_within_one_percent)
{
    static bench_histogram histogram;
    for (uint64_t value = 1; value <= 100000; value++)
        bench_histogram_add(&histogram, value);
    const double shares[] = {0.01, 0.5, 0.99, 0.999};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double expected = shares[i] * 100000;
        double found = (double)bench_histogram_quantile(&histogram, shares[i]);
        ck_assert_msg(found >= expected && found <= expected * 1.01, "%g: found %g", shares[i], found);
    }
    ck_assert_uint_eq(bench_histogram_quantile(&histogram, 1.0), 100000);
}
END_TEST

START_TEST(a_histogram_holds_any_value)
{
    static bench_histogram histogram;
    bench_histogram_add(&histogram, 0);
    ck_assert_uint_eq(bench_histogram_quantile(&histogram, 0.5), 0);
    bench_histogram_add(&histogram, UINT64_MAX);
    bench_histogram_add(&histogram, UINT64_MAX);
    ck_assert_uint_eq(bench_histogram_quantile(&histogram, 0.5), UINT64_MAX);
    ck_assert_uint_eq(histogram.max, UINT64_MAX);
}
END_TEST

START_TEST(buckets_grow_with_their_values)
{
    for (unsigned bit = 0; bit < 63; bit++)
        for (uint64_t near = (UINT64_C(1) << bit) - (bit > 0); near < (UINT64_C(1) << bit) + 1; near++) {
            ck_assert_uint_le(bench_bucket(near), bench_bucket(near + 1));
            ck_assert_uint_lt(bench_bucket(near + 1), BENCH_BUCKETS);
        }
    ck_assert_uint_lt(bench_bucket(UINT64_MAX), BENCH_BUCKETS);
}
END_TEST

START_TEST(the_median_of_samples_adds_errors_up)
{
    const bench_sample samples[] = {{.messages = 1, .errors = 1, .p50 = 30, .max = 5},
                                    {.messages = 2, .errors = 0, .p50 = 10, .max = 50},
                                    {.messages = 3, .errors = 2, .p50 = 20, .max = 7}};
    bench_sample median = bench_sample_median(samples, 3);
    ck_assert_uint_eq(median.messages, 6);
    ck_assert_uint_eq(median.errors, 3);
    ck_assert(median.p50 == 20 && median.max == 50);
}
END_TEST

START_TEST(a_wrong_word_anywhere_is_seen)
{
    words_1024 request, reply;
    add_request add;
    add_reply sums;
    bench_fill(BENCH_1024, &request, 77);
    bench_handle(BENCH_1024, &request, &reply);
    ck_assert(bench_right(BENCH_1024, &reply, 77));
    ck_assert(!bench_right(BENCH_1024, &reply, 78));
    for (size_t i = 0; i < 128; i++) {
        reply.word[i] ^= 1;
        ck_assert(!bench_right(BENCH_1024, &reply, 77));
        reply.word[i] ^= 1;
    }
    bench_fill(BENCH_VECTOR_ADD, &add, 77);
    bench_handle(BENCH_VECTOR_ADD, &add, &sums);
    ck_assert(bench_right(BENCH_VECTOR_ADD, &sums, 77));
    for (size_t i = 0; i < 25; i++) {
        float right = sums.sum[i];
        sums.sum[i] += 1;
        ck_assert(!bench_right(BENCH_VECTOR_ADD, &sums, 77));
        sums.sum[i] = right;
    }
}
END_TEST

static const struct {
    bench_floor run;
    bench_shape shape;
} floors[] = {
    {bench_floor_line, {.kind = BENCH_48}},
    {bench_floor_park, {.kind = BENCH_48}},
    {bench_floor_slots_ping_pong, {BENCH_48, 64, 1, 1, 1}},
    {bench_floor_slots_ping_pong, {BENCH_65536, 16, 1, 1, 1}},
    {bench_floor_slots_burst, {BENCH_1024, 256, 256, 256, 1}},
    {bench_floor_slots_there_and_back, {BENCH_48, 1024, 1024, 64, 1}},
    {bench_floor_slots_there_and_back, {BENCH_48, 256, 256, 64, 3}},
    {bench_floor_indices_there_and_back, {BENCH_VECTOR_ADD, 256, 256, 32, 1}},
    {bench_floor_better_there_and_back, {BENCH_1024, 256, 64, 32, 1}},
};

START_TEST(every_floor_carries_right_messages)
{
    bench_sample sample;
    ck_assert(floors[_i].run(&floors[_i].shape, 10000000, &sample));
    ck_assert_uint_gt(sample.messages, 0);
    ck_assert_uint_eq(sample.errors, 0);
    ck_assert(sample.per_second > 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bench");
    TCase *tcase = tcase_create("bench");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, quantiles_are_within_one_percent);
    tcase_add_test(tcase, a_histogram_holds_any_value);
    tcase_add_test(tcase, buckets_grow_with_their_values);
    tcase_add_test(tcase, the_median_of_samples_adds_errors_up);
    tcase_add_test(tcase, a_wrong_word_anywhere_is_seen);
    tcase_add_loop_test(tcase, every_floor_carries_right_messages, 0, sizeof floors / sizeof *floors);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
