/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many blocks kernels get that do not say how many, on a device of 64 multiprocessors: lanes with messages beyond
 * a line have two there, while a quarter of the device is not taken.
 */
#include "conformance/kernels/messages.h"
#include "gyre/gyre.h"
#include "unit/unit.h"

enum { DEFAULT = 0, MORE = 2, QUARTER = 16 };

static gyre_runtime *runtime;

static uint32_t blocks_of_launch(const char *name, uint32_t blocks)
{
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = GYRE_TEST_KERNELS "/words.gyre.c",
                                   .kernel = "words_of_128",
                                   .name = name,
                                   .backend = "cuda",
                                   .request = GYRE_TYPE(words_128),
                                   .reply = GYRE_TYPE(words_128),
                                   .lanes = 64,
                                   .blocks = blocks};
    gyre_kernel_info info = {.size = sizeof info};
    gyre_kernel *kernel;
    ck_assert_msg(gyre_launch(runtime, &desc, &kernel) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_int_eq(gyre_kernel_info_get(kernel, &info), GYRE_OK);
    return info.blocks;
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

int main(void)
{
    Suite *suite = suite_create("default blocks");
    TCase *tcase = tcase_create("default blocks");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, defaults_leave_room_for_others);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
