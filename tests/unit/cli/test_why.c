/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of two looks, and what gyre why makes of them: processes that do not exist, in files that a test writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/observed/rates.h"
#include "cli/observed/stat_print.h"
#include "cli/observed/times.h"
#include "cli/observed/top_screen.h"
#include "cli/observed/why.h"
#include "unit/observation/folder.h"

static struct gyre_observation *observation;
static uint32_t kernel, queue;
static uint64_t kernel_words[GYRE_OBSERVE_WORDS], queue_words[GYRE_OBSERVE_WORDS];
static observed_processes processes;
static rates_table table;
static char *told;

static void begin(void)
{
    folder_make();
    observation = folder_open(8);
    memset(kernel_words, 0, sizeof kernel_words);
    memset(queue_words, 0, sizeof queue_words);
    gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "match");
    about.state = GYRE_KERNEL_ACTIVE;
    kernel = gyre_observation_enter(observation, &about);
    about = folder_record(GYRE_OBSERVE_QUEUE, kernel, "orders");
    queue = gyre_observation_enter(observation, &about);
    kernel_words[GYRE_OBSERVE_KERNEL_BLOCKS] = 1;
    kernel_words[GYRE_OBSERVE_KERNEL_HEALTH] = GYRE_HEALTH_BUSY;
    queue_words[GYRE_OBSERVE_QUEUE_CAPACITY] = 1024;
}

static void finish(void)
{
    free(told);
    told = NULL;
    rates_finish(&table);
    observed_finish(&processes);
    gyre_observation_close(observation);
    folder_remove();
}

/* What the process shows now. */
static void look(void)
{
    observed_source source = {0};
    snprintf(source.folder, sizeof source.folder, "%s", folder_path);
    gyre_observation_values(observation, kernel, kernel_words, GYRE_OBSERVE_WORDS);
    gyre_observation_values(observation, queue, queue_words, GYRE_OBSERVE_WORDS);
    gyre_observation_beat(observation);
    observed_finish(&processes);
    ck_assert_int_eq(observed_open(&source, &processes), CLI_OK);
    ck_assert(rates_take(&table, &processes));
}

/* What gyre why says of "match" after two looks. */
static const char *why(const char *name)
{
    size_t size;
    look();
    kernel_words[GYRE_OBSERVE_KERNEL_HANDLED] += 1000;
    queue_words[GYRE_OBSERVE_QUEUE_SENT] += 2000;
    look();
    free(told);
    FILE *out = open_memstream(&told, &size);
    ck_assert_uint_eq(why_tell(out, &table, name), 1);
    fclose(out);
    return told;
}

static void says(const char *name, const char *sentence)
{
    const char *text = why(name);
    ck_assert_msg(strstr(text, sentence) != NULL, "expected '%s' in: %s", sentence, text);
}

START_TEST(rates_are_counts_by_the_time_between_two_looks)
{
    look();
    ck_assert_uint_eq(table.count, 2);
    ck_assert(!table.rows[0].has_rates && rates_lack(&table));
    const uint64_t before = table.rows[0].looked_ns;
    kernel_words[GYRE_OBSERVE_KERNEL_HANDLED] = 5000;
    queue_words[GYRE_OBSERVE_QUEUE_REJECTED] = 7;
    look();
    const double seconds = (double)(table.rows[0].looked_ns - before) / 1e9;
    ck_assert(table.rows[0].has_rates && table.rows[1].has_rates && !rates_lack(&table));
    ck_assert_double_eq_tol(table.rows[0].rates[RATES_HANDLED] * seconds, 5000, 0.01);
    ck_assert_double_gt(table.rows[1].rates[RATES_REFUSED], 0);
    kernel_words[GYRE_OBSERVE_KERNEL_HANDLED] = 10; /* a relaunch begins anew */
    look();
    ck_assert_double_eq(table.rows[0].rates[RATES_HANDLED], 0);
}
END_TEST

START_TEST(another_object_in_the_same_place_has_no_rates)
{
    look();
    gyre_observation_leave(observation, queue);
    gyre_observe_record about = folder_record(GYRE_OBSERVE_QUEUE, kernel, "orders");
    about.made_ns = 1;
    ck_assert_uint_eq(gyre_observation_enter(observation, &about), queue);
    look();
    ck_assert(table.rows[0].has_rates && !table.rows[1].has_rates);
}
END_TEST

START_TEST(nothing_is_wrong_where_nothing_is)
{
    says("match", "Nothing is wrong: it is busy");
    says("orders", "Kernel 'match' of process");
    look();
    size_t size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    ck_assert_uint_eq(why_tell(out, &table, "other"), 0);
    fclose(out);
    free(text);
}
END_TEST

START_TEST(shards_are_found_by_the_name_of_their_kernel)
{
    gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "accounts#3");
    about.state = GYRE_KERNEL_ACTIVE;
    gyre_observation_enter(observation, &about);
    says("accounts", "Kernel 'accounts#3' of process");
    ck_assert(!observed_is_named("accounts#3", "account") && !observed_is_named("accounts#", "accounts"));
    ck_assert(!observed_is_named("accounts#3a", "accounts") && observed_is_named("accounts#3", "accounts#3"));
}
END_TEST

START_TEST(kernels_of_processes_that_live_come_first)
{
    size_t size;
    look();
    rates_row rows[] = {table.rows[0], table.rows[0]};
    rows[0].life = "dead";
    const rates_table both = {.rows = rows, .count = 2};
    const char *const names[] = {"match", NULL /* all, as gyre report asks */};
    for (int i = 0; i < 2; i++) {
        free(told);
        FILE *out = open_memstream(&told, &size);
        ck_assert_uint_eq(why_tell(out, &both, names[i]), 2);
        fclose(out);
        const char *living = strstr(told, "Nothing is wrong"), *dead = strstr(told, "Its process was killed");
        ck_assert_msg(living && dead && living < dead, "found: %s", told);
    }
}
END_TEST

START_TEST(a_slow_kernel_is_told_from_a_slow_receiver)
{
    queue_words[GYRE_OBSERVE_QUEUE_UNANSWERED] = 1020;
    queue_words[GYRE_OBSERVE_QUEUE_UNRECEIVED] = 4;
    queue_words[GYRE_OBSERVE_QUEUE_FULL_NS] = 1;
    says("match", "Queue 'orders' is full for ");
    ck_assert_ptr_nonnull(strstr(told, "1024 of 1024 places are taken. The kernel handles "));
    ck_assert_ptr_nonnull(strstr(told, "It has 1 block. More `blocks` in [kernel.match]"));
    gyre_observe_block blocks[2] = {{.known = 1, .share = 1000000}, {.known = 1}};
    gyre_observation_blocks(observation, kernel, blocks, 1);
    says("match", "It has 1 block, which is busy 100 %. More `blocks` in [kernel.match]");
    kernel_words[GYRE_OBSERVE_KERNEL_LANES] = 1;
    says("match", ". An actor has no more; a keyed actor has. More `blocks` in [kernel.match]");
    blocks[0].share = 100000;
    gyre_observation_blocks(observation, kernel, blocks, 1);
    says("match", "busy 10 %. More of them would not help: they have time.\n");
    queue_words[GYRE_OBSERVE_QUEUE_UNSAVED_NS] = 1;
    says("match", "places are taken. They wait for the journal.\n");
    queue_words[GYRE_OBSERVE_QUEUE_UNSAVED_NS] = 0;
    queue_words[GYRE_OBSERVE_QUEUE_UNANSWERED] = 4;
    queue_words[GYRE_OBSERVE_QUEUE_UNRECEIVED] = 1020;
    says("match", "1020 of them are replies that nobody received");
    ck_assert_ptr_null(strstr(told, "More `blocks`"));
}
END_TEST

START_TEST(blocks_that_differ_much_are_told)
{
    gyre_observe_block blocks[3] = {{.known = 1, .share = 1000000}, {.known = 1}, {.known = 0}};
    queue_words[GYRE_OBSERVE_QUEUE_UNANSWERED] = 1024;
    queue_words[GYRE_OBSERVE_QUEUE_FULL_NS] = 1;
    kernel_words[GYRE_OBSERVE_KERNEL_BLOCKS] = 3;
    gyre_observation_blocks(observation, kernel, blocks, 3);
    says("match",
         "which are busy 50 % in the mean, one of them 0 %, another one 100 %. Its messages are not spread");
    ck_assert_ptr_null(strstr(told, "More `blocks`"));
    blocks[1].share = 900000;
    gyre_observation_blocks(observation, kernel, blocks, 3);
    says("match", "which are busy 95 %. More `blocks`");
}
END_TEST

/* A pipeline "line" in which "match" sends to "book". */
static uint32_t enter_pipeline(void)
{
    gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "book");
    about.state = GYRE_KERNEL_ACTIVE;
    const uint32_t book = gyre_observation_enter(observation, &about);
    about = folder_record(GYRE_OBSERVE_PIPELINE, 0, "line");
    about = folder_record(GYRE_OBSERVE_LINK, gyre_observation_enter(observation, &about), "sold");
    const uint32_t link = gyre_observation_enter(observation, &about);
    uint64_t words[GYRE_OBSERVE_WORDS] = {0};
    words[GYRE_OBSERVE_LINK_FROM] = kernel;
    words[GYRE_OBSERVE_LINK_TO] = book;
    words[GYRE_OBSERVE_LINK_CAPACITY] = 64;
    words[GYRE_OBSERVE_LINK_WAITING] = 60;
    gyre_observation_values(observation, link, words, GYRE_OBSERVE_WORDS);
    return book;
}

START_TEST(an_entry_waits_for_a_kernel_that_hangs)
{
    const uint32_t book = enter_pipeline();
    const gyre_observe_block idle = {.known = 1, .share = 1000};
    uint64_t words[GYRE_OBSERVE_WORDS] = {0};
    words[GYRE_OBSERVE_KERNEL_BLOCKS] = 1;
    gyre_observation_values(observation, book, words, GYRE_OBSERVE_WORDS);
    gyre_observation_blocks(observation, kernel, &idle, 1);
    queue_words[GYRE_OBSERVE_QUEUE_UNANSWERED] = 1024;
    queue_words[GYRE_OBSERVE_QUEUE_FULL_NS] = queue_words[GYRE_OBSERVE_QUEUE_STILL_NS] = 1;
    says("match", "Its requests wait for kernels behind it: `gyre why line` says for which.\n");
    ck_assert_ptr_nonnull(strstr(told, "It is in a kernel behind this one: `gyre why line`.\n"));
    says("line", "Messages wait most for 'book'");
    words[GYRE_OBSERVE_KERNEL_HEALTH] = GYRE_HEALTH_STALLED;
    gyre_observation_values(observation, book, words, GYRE_OBSERVE_WORDS);
    says("line", "Kernel 'book' holds flows up, because it is stalled");
    ck_assert_ptr_null(strstr(told, "More `blocks`"));
    gyre_observation_state(observation, book, GYRE_KERNEL_INACTIVE);
    says("line", "Kernel 'book' holds flows up, because it is inactive: `gyre why book` says more.\n");
}
END_TEST

START_TEST(a_handler_on_trial_is_told)
{
    kernel_words[GYRE_OBSERVE_KERNEL_CANARY] = 250000;
    kernel_words[GYRE_OBSERVE_KERNEL_CANARY_HANDLED] = 13;
    kernel_words[GYRE_OBSERVE_KERNEL_CANARY_FAILED] = 4;
    says("match", "it gets 25 % of the messages or keys; of those it handled 13 and failed 4.");
    ck_assert_ptr_nonnull(strstr(told, "Nothing is wrong"));
}
END_TEST

static size_t count_lines(const char *text)
{
    size_t count = 0;
    while ((text = strchr(text, '\n')))
        text++, count++;
    return count;
}

static void draw_wide(bool blocks, size_t width)
{
    size_t size;
    free(told);
    FILE *out = open_memstream(&told, &size);
    const top_screen screen = {.out = out, .width = width, .blocks = blocks};
    top_draw(&screen, &table, &processes, "");
    fclose(out);
}

/* On a screen of 80 columns. */
static void draw(bool blocks)
{
    draw_wide(blocks, 80);
}

START_TEST(many_blocks_fit_on_a_screen)
{
    enum { BLOCKS = 132 };
    gyre_observe_block blocks[BLOCKS] = {{0}};
    for (uint32_t i = 0; i < BLOCKS; i++)
        blocks[i] = (gyre_observe_block){.known = i != 7, .share = i < 100 ? 1000000 : 10000 * i % 1000000};
    kernel_words[GYRE_OBSERVE_KERNEL_BLOCKS] = BLOCKS;
    gyre_observation_blocks(observation, kernel, blocks, BLOCKS);
    look();
    draw(false);
    ck_assert_ptr_nonnull(strstr(told, "of 132: least 0 %, mean 79 %, most 100 % busy\n"));
    const size_t lines = count_lines(told);
    draw(true);
    ck_assert_ptr_nonnull(
        strstr(told, "\n         0:   100   100   100   100   100   100   100     -   100   100\n"));
    ck_assert_ptr_nonnull(strstr(told, "\n       130:    30    31\n"));
    ck_assert_uint_eq(count_lines(told), lines + (BLOCKS + 9) / 10);
    json_t *json = top_json(&table);
    const json_t *busy = json_object_get(json_array_get(json_object_get(json, "rows"), 0), "busy");
    ck_assert_uint_eq(json_array_size(json_object_get(busy, "shares")), BLOCKS);
    ck_assert(json_is_null(json_array_get(json_object_get(busy, "shares"), 7)));
    ck_assert_double_eq_tol(json_number_value(json_object_get(busy, "most")), 1, 1e-9);
    json_decref(json);
}
END_TEST

/* Each line of a narrow screen fits, and what it shows is whole: a rate ends its line or is followed by a space. */
START_TEST(a_narrow_screen_shows_fewer_columns_and_no_half_ones)
{
    enum { WIDTH = 40 };
    look();
    look();
    draw_wide(false, WIDTH);
    ck_assert_msg(strstr(told, "KERNEL           HEALTH     MSG/S  BUSY\n") != NULL, "found: %s", told);
    ck_assert_ptr_null(strstr(told, "PROCESS"));
    const char *row = strstr(told, "\n  orders         in ");
    ck_assert_msg(row && strstr(row, " out "), "found: %s", told);
    for (const char *line = told; *line; line = strchr(line, '\n') + 1)
        ck_assert_uint_le(strcspn(line, "\n"), WIDTH);
    draw_wide(false, WIDTH + 1);
    ck_assert_msg(strstr(told, "KERNEL           HEALTH     MSG/S  BUSY\n") != NULL, "found: %s", told);
}
END_TEST

START_TEST(what_was_refused_and_lost_is_told)
{
    queue_words[GYRE_OBSERVE_QUEUE_REJECTED] = 12;
    queue_words[GYRE_OBSERVE_QUEUE_DROPPED] = 2;
    queue_words[GYRE_OBSERVE_QUEUE_LETTERS] = 3;
    says("match", "12 messages for queue 'orders' were refused because it was full, from ");
    ck_assert_ptr_nonnull(strstr(told, "5 messages for queue 'orders' were dropped, or became dead letters"));
    kernel_words[GYRE_OBSERVE_KERNEL_CLOSED_REFUSED] = 598;
    kernel_words[GYRE_OBSERVE_KERNEL_CLOSED_LOST] = 1;
    says("match", "Queues that are closed since refused 598 messages and lost 1, last at ");
    kernel_words[GYRE_OBSERVE_KERNEL_RESTARTS] = 4;
    kernel_words[GYRE_OBSERVE_KERNEL_FAILED] = 9;
    says("match", "4 worker processes died with it");
    ck_assert_ptr_nonnull(strstr(told, "9 of its messages failed, now 0 a second. Receivers have the code"));
    gyre_observation_trouble(observation, 2, "kernel 'match' is stalled");
    says("match", "The log said 1 time, last at ");
}
END_TEST

START_TEST(states_and_handlers_that_hang_are_told)
{
    kernel_words[GYRE_OBSERVE_KERNEL_HEALTH] = GYRE_HEALTH_STALLED;
    says("match", "A handler runs for longer than it may.");
    queue_words[GYRE_OBSERVE_QUEUE_UNANSWERED] = 1024;
    queue_words[GYRE_OBSERVE_QUEUE_FULL_NS] = 1;
    says("match", "The handler that runs for so long holds them up.\n");
    queue_words[GYRE_OBSERVE_QUEUE_FULL_NS] = 0;
    gyre_observation_state(observation, kernel, GYRE_KERNEL_INACTIVE);
    says("match", "It is inactive");
    gyre_observation_state(observation, kernel, GYRE_KERNEL_LOST);
    says("match", "It is lost");
    queue_words[GYRE_OBSERVE_QUEUE_UNANSWERED] = 5;
    queue_words[GYRE_OBSERVE_QUEUE_STILL_NS] = 1;
    says("match", "In queue 'orders' the same request is unanswered for ");
    ck_assert_ptr_nonnull(strstr(told, ", and 4 behind it wait."));
}
END_TEST

START_TEST(labels_are_quoted)
{
    gyre_observe_record about = folder_record(GYRE_OBSERVE_QUEUE, kernel, "a\"b\\c");
    ck_assert_uint_gt(gyre_observation_enter(observation, &about), 0);
    look();
    size_t size;
    free(told);
    FILE *out = open_memstream(&told, &size);
    ck_assert_int_eq(stat_print_prometheus(&processes, out), CLI_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(told, "kernel=\"match\",queue=\"a\\\"b\\\\c\""));
}
END_TEST

START_TEST(kernels_are_ordered_with_their_queues)
{
    gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "abacus");
    const uint64_t words[GYRE_OBSERVE_WORDS] = {[GYRE_OBSERVE_KERNEL_QUEUED] = 3};
    const uint32_t other = gyre_observation_enter(observation, &about);
    gyre_observation_values(observation, other, words, GYRE_OBSERVE_WORDS);
    look();
    static const struct {
        rates_order order;
        const char *first;
    } orders[] = {{RATES_BY_NAME, "abacus"}, {RATES_BY_RATE, "abacus"}, {RATES_BY_LENGTH, "abacus"}};
    for (size_t i = 0; i < 3; i++) {
        rates_sort(&table, orders[i].order);
        ck_assert_uint_eq(table.count, 3);
        ck_assert_str_eq(table.rows[0].kernel, orders[i].first);
        ck_assert_uint_eq(table.rows[2].kind, GYRE_OBSERVE_QUEUE);
    }
    kernel_words[GYRE_OBSERVE_KERNEL_HANDLED] = 10;
    look();
    rates_sort(&table, RATES_BY_RATE);
    ck_assert_str_eq(table.rows[0].kernel, "match");
    ck_assert_str_eq(table.rows[1].queue, "orders");
    ck_assert_str_eq(table.rows[2].kernel, "abacus");
}
END_TEST

START_TEST(percentiles_lie_within_their_bucket)
{
    gyre_observe_histogram times = {0}, earlier;
    char text[16];
    ck_assert_double_eq(times_percentile(&times, 0.5), 0);
    for (uint64_t ns = 1; ns <= 100000; ns++)
        times.buckets[gyre_observe_bucket(ns)]++, times.sum_ns += ns;
    ck_assert_uint_eq(times_count(&times), 100000);
    ck_assert_double_eq_tol(times_percentile(&times, 0.5), 50000e-9, 0.0625 * 50000e-9);
    ck_assert_double_eq_tol(times_percentile(&times, 0.99), 99000e-9, 0.0625 * 99000e-9);
    ck_assert_double_eq_tol(times_percentile(&times, 1), 100000e-9, 0.0625 * 100000e-9);
    ck_assert_double_eq_tol(times_mean(&times), 50000.5e-9, 1e-12);
    earlier = times;
    times.buckets[gyre_observe_bucket(1 << 20)] += 10; /* what came since then is all that counts */
    ck_assert(times_subtract(&times, &earlier));
    ck_assert_uint_eq(times_count(&times), 10);
    ck_assert_double_gt(times_percentile(&times, 0.01), 1e-3);
    ck_assert(!times_subtract(&times, &earlier));
    ck_assert_str_eq(times_text(850e-9, text), "850 ns");
    ck_assert_str_eq(times_text(1.24e-6, text), "1.2 us");
    ck_assert_str_eq(times_text(0.014, text), "14 ms");
    ck_assert_str_eq(times_text(3, text), "3.0 s");
}
END_TEST

START_TEST(histograms_are_told_to_prometheus)
{
    gyre_observe_histogram times = {.record = queue, .time = GYRE_OBSERVE_HANDLED, .sum_ns = 1536};
    times.buckets[gyre_observe_bucket(0)] = 1;
    times.buckets[gyre_observe_bucket(1023)] = 2;
    times.buckets[gyre_observe_bucket(1024)] = 4;
    times.buckets[GYRE_OBSERVE_BUCKETS - 1] = 8;
    gyre_observation_histogram(observation, &times, false);
    times = (gyre_observe_histogram){.record = kernel, .time = GYRE_OBSERVE_HANDLED, .sum_ns = 4096};
    times.buckets[gyre_observe_bucket(4096)] = 5;
    gyre_observation_histogram(observation, &times, false);
    look();
    size_t size;
    free(told);
    FILE *out = open_memstream(&told, &size);
    ck_assert_int_eq(stat_print_prometheus(&processes, out), CLI_OK);
    fclose(out);
    static const char *const lines[] = {"le=\"6.4e-08\"} 1\n",
                                        "le=\"5.12e-07\"} 1\n",
                                        "le=\"1.024e-06\"} 3\n",
                                        "le=\"2.048e-06\"} 7\n",
                                        "le=\"68.719476736\"} 7\n",
                                        "le=\"+Inf\"} 15\n",
                                        "gyre_message_seconds_count{",
                                        "queue=\"orders\",part=\"handled\"} 15\n",
                                        "part=\"handled\"} 1.5",
                                        "gyre_handler_seconds_count{",
                                        "kernel=\"match\"} 5\n",
                                        "kernel=\"match\",le=\"8.192e-06\"} 5\n",
                                        "kernel=\"match\",le=\"4.096e-06\"} 0\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        ck_assert_msg(strstr(told, lines[i]) != NULL, "expected '%s' in: %s", lines[i], told);
    ck_assert_ptr_null(strstr(told, "part=\"waited\""));
}
END_TEST

START_TEST(rates_are_short)
{
    static const struct {
        double rate;
        const char *text;
    } rows[] = {{0, "0"},          {0.25, "0.2"},       {7, "7.0"},          {9999, "9999"},
                {12345, "12.3 k"}, {999499, "999.5 k"}, {1400000, "1.40 M"}, {2.5e9, "2.50 G"}};
    char text[16];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(rates_text(rows[i].rate, text), rows[i].text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("why");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, begin, finish);
    tcase_add_test(all, rates_are_counts_by_the_time_between_two_looks);
    tcase_add_test(all, another_object_in_the_same_place_has_no_rates);
    tcase_add_test(all, shards_are_found_by_the_name_of_their_kernel);
    tcase_add_test(all, kernels_of_processes_that_live_come_first);
    tcase_add_test(all, nothing_is_wrong_where_nothing_is);
    tcase_add_test(all, a_slow_kernel_is_told_from_a_slow_receiver);
    tcase_add_test(all, blocks_that_differ_much_are_told);
    tcase_add_test(all, an_entry_waits_for_a_kernel_that_hangs);
    tcase_add_test(all, a_handler_on_trial_is_told);
    tcase_add_test(all, many_blocks_fit_on_a_screen);
    tcase_add_test(all, a_narrow_screen_shows_fewer_columns_and_no_half_ones);
    tcase_add_test(all, what_was_refused_and_lost_is_told);
    tcase_add_test(all, states_and_handlers_that_hang_are_told);
    tcase_add_test(all, labels_are_quoted);
    tcase_add_test(all, kernels_are_ordered_with_their_queues);
    tcase_add_test(all, percentiles_lie_within_their_bucket);
    tcase_add_test(all, histograms_are_told_to_prometheus);
    tcase_add_test(all, rates_are_short);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
