/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the blocks of a kernel are (core/kernel/busy.c): from words that a test writes in place of blocks, at times that it makes up. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/busy.h"
#include "core/observation/observed.h"
#include "unit/observation/folder.h"

enum { BLOCKS = 132, LOOKS = 100 };
#define STEP_NS   UINT64_C(10000000)
#define SECOND_NS UINT64_C(1000000000)

static struct gyre_runtime runtime;
static struct gyre_kernel kernel;
static gyre_control_block *lines;
static struct gyre_observed seen;
static uint64_t now;

static void begin(void)
{
    folder_make();
    runtime.observation = folder_open(8);
    const gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "match");
    kernel.runtime = &runtime;
    kernel.resident = (gyre_resident *)(void *)&runtime; /* some device side */
    kernel.blocks = BLOCKS;
    kernel.observed = gyre_observation_enter(runtime.observation, &about);
    kernel.control = calloc(1, GYRE_CONTROL_SIZE(BLOCKS));
    ck_assert(kernel.control && kernel.observed && pthread_mutex_init(&kernel.lock, NULL) == 0);
    lines = (gyre_control_block *)(kernel.control + 1);
    for (uint32_t i = 0; i < BLOCKS; i++)
        lines[i].tells = 1;
    gyre_kernel_busy_begin(&kernel);
    ck_assert(kernel.busy);
    now = SECOND_NS;
}

static void finish(void)
{
    gyre_observed_finish(&seen);
    gyre_observation_close(runtime.observation);
    folder_remove();
    free(kernel.busy);
    kernel.busy = NULL;
    free(kernel.control);
    pthread_mutex_destroy(&kernel.lock);
}

static bool look_after(uint64_t ns)
{
    now += ns;
    return gyre_kernel_busy_look(&kernel, now);
}

/* A second of looks that find block i at messages in i of 100; beyond 100, in none. */
static void spend_second(void)
{
    for (uint64_t look = 0; look < LOOKS; look++) {
        for (uint64_t i = 0; i < BLOCKS; i++)
            lines[i].working = i <= LOOKS && look < i ? 7 : 0;
        ck_assert(look_after(STEP_NS));
    }
}

static void read_file(void)
{
    gyre_kernel_busy_tell(&kernel);
    gyre_observed_finish(&seen);
    ck_assert_int_eq(gyre_observed_read(gyre_observation_path(runtime.observation), &seen, NULL), GYRE_OK);
}

/* What a reader finds of a block now. */
static gyre_observe_block told(uint32_t wanted)
{
    gyre_observe_block block = {0};
    uint32_t place = 0;
    read_file();
    for (uint32_t i = 0; i <= wanted; i++)
        ck_assert(gyre_observed_block(&seen, kernel.observed, &place, &block));
    return block;
}

START_TEST(each_block_has_its_own_share)
{
    gyre_kernel_busy_tell(&kernel); /* before the first look nothing is known */
    ck_assert(look_after(STEP_NS));
    ck_assert_uint_eq(told(3).known, 0);
    spend_second();
    read_file();
    uint32_t place = 0;
    gyre_observe_block block;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        ck_assert(gyre_observed_block(&seen, kernel.observed, &place, &block));
        const uint64_t share = i <= LOOKS ? i : 0;
        ck_assert_uint_eq(block.known, 1);
        ck_assert_uint_eq(block.seen_ns, SECOND_NS);
        /* one more look than steps: the first one begins the second */
        ck_assert_uint_eq(block.share, share * GYRE_OBSERVE_WHOLE / (LOOKS + 1));
        ck_assert_uint_eq(block.busy_ns, share * SECOND_NS / (LOOKS + 1));
    }
    spend_second();
    ck_assert_uint_eq(told(50).share, GYRE_OBSERVE_WHOLE / 2);
    ck_assert_uint_eq(told(LOOKS).share, GYRE_OBSERVE_WHOLE);
    ck_assert_uint_eq(told(50).seen_ns, 2 * SECOND_NS);
}
END_TEST

START_TEST(of_blocks_that_nobody_tells_of_nothing_is_known)
{
    lines[1].tells = 0;
    spend_second();
    spend_second();
    ck_assert_uint_eq(told(1).known, 0);
    ck_assert_uint_eq(told(1).busy_ns, 0);
    ck_assert_uint_eq(told(2).known, 1);
}
END_TEST

START_TEST(a_block_whose_process_died_is_not_busy)
{
    spend_second();
    spend_second();
    lines[4].working = 9; /* and so it stays */
    kernel.resident = NULL;
    for (int look = 0; look < 2 * LOOKS; look++)
        look_after(STEP_NS);
    ck_assert_uint_eq(told(4).known, 1);
    ck_assert_uint_eq(told(4).share, 0);
}
END_TEST

START_TEST(a_time_without_looks_does_not_count)
{
    spend_second();
    const uint64_t before = told(9).seen_ns;
    lines[9].working = 1;
    look_after(1000 * SECOND_NS); /* the program was stopped */
    spend_second();
    spend_second();
    ck_assert_uint_le(told(9).seen_ns, before + 4 * SECOND_NS);
    ck_assert_uint_lt(told(9).busy_ns, SECOND_NS);
}
END_TEST

/* 11 s after its last message it is looked at as often as its counts are written, and no block of it is busy. */
START_TEST(a_kernel_that_rests_is_looked_at_seldom)
{
    bool again = true;
    spend_second();
    memset(lines, 0, BLOCKS * sizeof *lines);
    for (uint32_t i = 0; i < BLOCKS; i++)
        lines[i].tells = 1;
    for (int look = 0; look < 11 * LOOKS && again; look++)
        again = look_after(STEP_NS);
    ck_assert(!again);
    const uint64_t before = told(100).seen_ns;
    ck_assert(!look_after(SECOND_NS) && !look_after(SECOND_NS));
    ck_assert_uint_eq(told(100).share, 0);
    ck_assert_uint_ge(told(100).seen_ns, before + 2 * SECOND_NS);
    lines[3].handled = 1; /* it wakes: what it did since the last look is not known */
    ck_assert(look_after(SECOND_NS));
    ck_assert_uint_eq(told(3).known, 0);
    spend_second();
    ck_assert_uint_eq(told(3).known, 1);
}
END_TEST

START_TEST(places_of_kernels_that_are_gone_are_used_again)
{
    const gyre_observe_block few[3] = {{.known = 1}, {.known = 1}, {.known = 1}};
    gyre_observe_block block;
    for (int round = 0; round < 1000; round++) {
        const gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "short");
        const uint32_t one = gyre_observation_enter(runtime.observation, &about);
        gyre_observation_blocks(runtime.observation, one, few, 1 + (uint32_t)round % 3);
        gyre_observation_leave(runtime.observation, one);
    }
    spend_second();
    ck_assert_uint_eq(told(BLOCKS - 1).record, kernel.observed);
    uint32_t place = 0, count = 0;
    while (gyre_observed_block(&seen, kernel.observed, &place, &block))
        count++;
    ck_assert_uint_eq(count, BLOCKS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("busy");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, begin, finish);
    tcase_add_test(all, each_block_has_its_own_share);
    tcase_add_test(all, of_blocks_that_nobody_tells_of_nothing_is_known);
    tcase_add_test(all, a_block_whose_process_died_is_not_busy);
    tcase_add_test(all, a_time_without_looks_does_not_count);
    tcase_add_test(all, a_kernel_that_rests_is_looked_at_seldom);
    tcase_add_test(all, places_of_kernels_that_are_gone_are_used_again);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
