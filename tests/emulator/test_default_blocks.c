/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many blocks and lanes kernels get that do not say how many, on a device of 64 multiprocessors: lanes with messages
 * beyond a line have two blocks there, while a quarter of the device is not taken. And what many blocks do without.
 */
#include "conformance/kernels/messages.h"
#include "gyre/gyre.h"
#include "unit/unit.h"

enum { DEFAULT = 0, MORE = 2, QUARTER = 16 };

static gyre_runtime *runtime;

static gyre_kernel_info launched(const gyre_launch_desc *desc)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_kernel *kernel;
    ck_assert_msg(gyre_launch(runtime, desc, &kernel) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_int_eq(gyre_kernel_info_get(kernel, &info), GYRE_OK);
    return info;
}

static uint32_t blocks_of_launch(const char *name, uint32_t blocks)
{
    return launched(&(gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                                        .source = GYRE_TEST_KERNELS "/words.gyre.c",
                                        .kernel = "words_of_128",
                                        .name = name,
                                        .backend = "cuda",
                                        .request = GYRE_TYPE(words_128),
                                        .reply = GYRE_TYPE(words_128),
                                        .lanes = 64,
                                        .blocks = blocks})
        .blocks;
}

static gyre_kernel_info launched_block_kernel(const char *kernel, uint32_t lanes, uint32_t blocks)
{
    return launched(&(gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                                        .source = GYRE_TEST_KERNELS "/calls.gyre.c",
                                        .kernel = kernel,
                                        .backend = "cuda",
                                        .lanes = lanes,
                                        .blocks = blocks});
}

START_TEST(defaults_leave_room_for_others)
{
    ck_assert_msg(gyre_open(NULL, &runtime) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(blocks_of_launch("first", DEFAULT), MORE);
    ck_assert_uint_eq(blocks_of_launch("wide", QUARTER - MORE - 1), QUARTER - MORE - 1);
    ck_assert_uint_eq(blocks_of_launch("last", DEFAULT), 1);
    gyre_close(runtime);
}
END_TEST

START_TEST(blocks_have_a_lane_for_each_word)
{
    ck_assert_msg(gyre_open(NULL, &runtime) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(launched_block_kernel("block_256", DEFAULT, DEFAULT).lanes, 256);
    ck_assert_uint_eq(launched_block_kernel("block_6", DEFAULT, DEFAULT).lanes, 128);
    gyre_close(runtime);
}
END_TEST

/* With room for 17 messages of this kernel, a multiprocessor holds three blocks. */
START_TEST(many_blocks_have_room_for_few_messages_each)
{
    enum { TWO_UNITS = 2, EACH = 6 };
    ck_assert_int_eq(setenv("EMULATOR_UNITS", "2", 1), 0);
    ck_assert_msg(gyre_open(NULL, &runtime) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(launched_block_kernel("block_256", 32, TWO_UNITS * EACH).blocks, TWO_UNITS * EACH);
    gyre_close(runtime);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("default blocks");
    TCase *tcase = tcase_create("default blocks");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, defaults_leave_room_for_others);
    tcase_add_test(tcase, blocks_have_a_lane_for_each_word);
    tcase_add_test(tcase, many_blocks_have_room_for_few_messages_each);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
