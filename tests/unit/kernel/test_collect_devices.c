/* SPDX-License-Identifier: Apache-2.0 */
/* When devices combine by themselves: only where they were made ready, also when kernels move in between. */
#include "core/api/collect_devices.h"
#include "unit/unit.h"

enum { PARTS = 2 };

static char places[3];
static struct gyre_kernel kernels[PARTS];
static struct gyre_buffer buffers[PARTS];

static struct gyre_dispatch *device(uint32_t number)
{
    return (struct gyre_dispatch *)(void *)&places[number];
}

static void put_on(uint32_t part, uint32_t number)
{
    kernels[part].dispatch = buffers[part].dispatch = device(number);
}

static struct gyre_collecting collecting(void)
{
    struct gyre_collecting all = {.count = PARTS, .bytes = GYRE_COLLECT_DEVICES_FROM, .devices_ready = true};
    for (uint32_t i = 0; i < PARTS; i++) {
        all.parts[i].standing.kernel = &kernels[i];
        all.parts[i].named.buffer = &buffers[i];
        all.devices[i] = device(i);
        put_on(i, i);
    }
    return all;
}

START_TEST(a_kernel_that_moved_meanwhile_has_the_host_combine)
{
    const struct gyre_collecting all = collecting();
    ck_assert(gyre_collect_by_devices(&all));
    put_on(1, 2);
    ck_assert(!gyre_collect_by_devices(&all));
    put_on(1, 0);
    ck_assert(!gyre_collect_by_devices(&all));
    put_on(1, 1);
    ck_assert(gyre_collect_by_devices(&all));
}
END_TEST

START_TEST(few_bytes_and_bytes_in_this_process_are_not_for_the_devices)
{
    struct gyre_collecting all = collecting();
    unsigned char place;
    all.bytes--;
    ck_assert(!gyre_collect_by_devices(&all));
    all.bytes++;
    all.parts[1].place = &place;
    ck_assert(!gyre_collect_by_devices(&all));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collect_devices");
    TCase *tcase = tcase_create("ready");
    tcase_add_test(tcase, a_kernel_that_moved_meanwhile_has_the_host_combine);
    tcase_add_test(tcase, few_bytes_and_bytes_in_this_process_are_not_for_the_devices);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
