/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two GPUs that reach each other's memory: sums that they make by themselves, which a failure in any step leaves undone, and moves of which the
 * bytes go straight from one to the other, and from the CPU backend to a GPU. What the driver was told to do is counted (EMULATOR_PEER_COPIES).
 */
#include "gyre/change.h"
#include "gyre/collect.h"
#include "unit/unit.h"

#include <string.h>
#include <unistd.h>

enum { DEVICES = 2, CELLS = 3001, FIRST = 3 };

static gyre_runtime *runtime;
static gyre_kernel *kernels[DEVICES];
static gyre_buffer *cells[DEVICES], *weights[DEVICES];
static char told[] = "/tmp/gyre-combine-XXXXXX";

#define MUST(call) ck_assert_msg((call) == GYRE_OK, "%s", gyre_error_text())

static uint32_t content(uint32_t device, uint32_t cell)
{
    return (device + 1) * 1000003 + cell * 7;
}

static void fill(uint32_t device)
{
    static uint32_t bytes[CELLS];
    for (uint32_t i = 0; i < CELLS; i++)
        bytes[i] = content(device, i);
    MUST(gyre_buffer_upload(cells[device], 0, bytes, sizeof bytes));
}

static void launch_part(const char *backend, uint32_t part, uint32_t device)
{
    MUST(gyre_buffer_alloc(runtime, backend, device, CELLS * sizeof(uint32_t), &cells[part]));
    MUST(gyre_buffer_alloc(runtime, backend, device, 5 * sizeof(double), &weights[part]));
    const gyre_binding_name bindings[] = {{"cells", cells[part]}, {"weights", weights[part]}};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = GYRE_TEST_KERNELS "/collect.gyre.c",
                                   .kernel = "collect_fill",
                                   .name = part ? "one" : "zero",
                                   .backend = backend,
                                   .device = device,
                                   .lanes = 1,
                                   .blocks = 1,
                                   .bindings = bindings,
                                   .binding_count = 2};
    MUST(gyre_launch(runtime, &desc, &kernels[part]));
    fill(part);
}

/* `fails`: as EMULATOR_FAIL has it; NULL: nothing does. */
static void begin_on(const uint32_t *devices, const char *fails, const char *peers)
{
    const char *const settings[] = {peers, "kernel.zero.stands_soon=true", "kernel.one.stands_soon=true",
                                    NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings};
    const int file = mkstemp(told);
    ck_assert_int_ge(file, 0);
    close(file);
    setenv("EMULATOR_PEER_COPIES", told, 1);
    if (fails)
        setenv("EMULATOR_FAIL", fails, 1);
    MUST(gyre_open(&desc, &runtime));
    for (uint32_t i = 0; i < DEVICES; i++)
        launch_part("cuda", i, devices[i]);
}

static void begin(const char *fails, const char *peers)
{
    begin_on((const uint32_t[]){0, 1}, fails, peers);
}

static void end(void)
{
    gyre_close(runtime);
    unlink(told);
}

/* How many lines of what the driver did have the text. */
static uint32_t count_told(const char *text)
{
    char line[256];
    uint32_t count = 0;
    FILE *file = fopen(told, "re");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

/* Replies with what the first cell held, and fills all with `value`. */
static uint32_t call(uint32_t value)
{
    const uint32_t request[2] = {value, 0};
    uint32_t reply[2];
    MUST(gyre_call(gyre_kernel_queue(kernels[0]), request, sizeof request, reply, sizeof reply, NULL,
                   gyre_in_ms(60000)));
    return reply[0];
}

static gyre_status sum_all(void)
{
    const gyre_collect_desc desc = {
        .size = sizeof desc, .kernels = kernels, .kernel_count = DEVICES, .buffer = "cells", .first = FIRST};
    return gyre_all_reduce(&desc, GYRE_COLLECT_SUM, gyre_in_ms(60000));
}

static void check_cells(bool summed)
{
    static uint32_t seen[CELLS];
    for (uint32_t device = 0; device < DEVICES; device++) {
        MUST(gyre_buffer_download(cells[device], 0, seen, sizeof seen));
        for (uint32_t i = 0; i < CELLS; i++)
            ck_assert_uint_eq(seen[i],
                              summed && i >= FIRST ? content(0, i) + content(1, i) : content(device, i));
    }
}

START_TEST(devices_sum_by_themselves)
{
    begin(NULL, "peers=true");
    MUST(sum_all());
    check_cells(true);
    ck_assert_uint_eq(count_told("0 combines"),
                      1); /* its share is computed and the other one taken by one kernel */
    ck_assert_uint_eq(count_told("1 combines"), 1);
    fill(0);
    fill(1);
    MUST(sum_all()); /* the turns of the kernels that wait for each other do not get mixed up */
    check_cells(true);
    fill(0);
    MUST(gyre_kernel_move(kernels[0], "cuda", 1, gyre_in_ms(60000)));
    ck_assert_uint_eq(count_told("0 to 1, 12004 bytes, straight"), 1);
    fill(1);
    check_cells(false);
    end();
}
END_TEST

START_TEST(without_peers_the_host_sums)
{
    begin(NULL, "peers=false");
    MUST(sum_all());
    check_cells(true);
    ck_assert_uint_eq(count_told("combines"), 0);
    end();
}
END_TEST

static void check_a_failure(const uint32_t *devices, unsigned launch)
{
    char fails[64];
    snprintf(fails, sizeof fails, "gyre_combine:%u:2", launch); /* 2: out of memory */
    begin_on(devices, fails, "peers=true");
    ck_assert_int_eq(sum_all(), GYRE_EXHAUSTED);
    check_cells(false);
    MUST(sum_all());
    check_cells(true);
    end();
}

/* On one device the kernels would wait for each other in one stream, so there are two steps for each part. */
START_TEST(a_step_that_fails_changes_nothing)
{
    check_a_failure((const uint32_t[]){0, 0}, 4); /* the second part, in the second step */
}
END_TEST

/* The first GPU's kernel waits already, and has written its share. */
START_TEST(a_kernel_that_nobody_meets_changes_nothing)
{
    check_a_failure((const uint32_t[]){0, 1}, 2);
}
END_TEST

/* The other kernel waits for one that begins only when the time is up. */
START_TEST(a_kernel_that_comes_late_changes_nothing)
{
    setenv("EMULATOR_COMBINE_LATE", "4:1500", 1); /* of the second collective */
    begin(NULL, "peers=true");
    MUST(sum_all());
    fill(0);
    fill(1);
    const gyre_collect_desc desc = {
        .size = sizeof desc, .kernels = kernels, .kernel_count = DEVICES, .buffer = "cells", .first = FIRST};
    ck_assert_int_eq(gyre_all_reduce(&desc, GYRE_COLLECT_SUM, gyre_in_ms(700)), GYRE_TIMEOUT);
    check_cells(false);
    MUST(sum_all());
    check_cells(true);
    end();
}
END_TEST

START_TEST(a_move_that_fails_is_none)
{
    begin("cuMemcpyPeerAsync:2:2", "peers=true"); /* the first one prepares the way */
    ck_assert_int_eq(gyre_kernel_move(kernels[0], "cuda", 1, gyre_in_ms(60000)), GYRE_EXHAUSTED);
    check_cells(false);
    ck_assert_uint_eq(call(5), content(0, 0));
    fill(0);
    MUST(gyre_kernel_move(kernels[0], "cuda", 1, gyre_in_ms(60000)));
    check_cells(false);
    end();
}
END_TEST

/* The devices have memory for the kernels, and no more of it. */
START_TEST(without_room_on_the_devices_the_host_sums)
{
    begin("cuMemAllocAsync:7:2:0", "peers=true"); /* 2: out of memory */
    MUST(sum_all());
    check_cells(true);
    ck_assert_uint_eq(count_told("combines"), 0);
    end();
}
END_TEST

/* 801: not supported. */
START_TEST(gpus_that_do_not_let_each_other_in_go_through_the_host)
{
    begin("cuMemPoolSetAccess:1:801:0", "peers=true");
    MUST(sum_all());
    check_cells(true);
    ck_assert_uint_eq(count_told("combines"), 0);
    fill(0);
    MUST(gyre_kernel_move(kernels[0], "cuda", 1, gyre_in_ms(60000)));
    ck_assert_uint_eq(count_told("straight"), 0);
    fill(1);
    check_cells(false);
    ck_assert_uint_eq(call(5), content(0, 0));
    end();
}
END_TEST

static void open_on_cpu(const char *bells)
{
    const char *const settings[] = {bells, NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings};
    MUST(gyre_open(&desc, &runtime));
    launch_part("cpu", 0, 0);
}

START_TEST(a_kernel_without_bells_goes_to_a_gpu_and_back)
{
    open_on_cpu("kernel.zero.bells=false");
    MUST(gyre_kernel_move(kernels[0], "cuda", 1, gyre_in_ms(60000)));
    ck_assert_uint_eq(call(5), content(0, 0));
    MUST(gyre_kernel_move(kernels[0], "cpu", 0, gyre_in_ms(60000)));
    ck_assert_uint_eq(call(6), 5);
    MUST(gyre_kernel_move(kernels[0], "cuda", 0, gyre_in_ms(60000)));
    ck_assert_uint_eq(call(7), 6);
    gyre_close(runtime);
    open_on_cpu("kernel.zero.bells=true");
    ck_assert_int_eq(gyre_kernel_move(kernels[0], "cuda", 1, gyre_in_ms(60000)), GYRE_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "bells = false"));
    ck_assert_uint_eq(call(5), content(0, 0));
    gyre_close(runtime);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("two GPUs that reach each other");
    TCase *sums = tcase_create("sums"), *moves = tcase_create("moves");
    tcase_set_timeout(sums, 60);
    tcase_set_timeout(moves, 60);
    tcase_add_test(sums, devices_sum_by_themselves);
    tcase_add_test(sums, without_peers_the_host_sums);
    tcase_add_test(sums, without_room_on_the_devices_the_host_sums);
    tcase_add_test(sums, a_kernel_that_nobody_meets_changes_nothing);
    tcase_add_test(sums, a_kernel_that_comes_late_changes_nothing);
    tcase_add_test(sums, a_step_that_fails_changes_nothing);
    tcase_add_test(moves, gpus_that_do_not_let_each_other_in_go_through_the_host);
    tcase_add_test(moves, a_move_that_fails_is_none);
    tcase_add_test(moves, a_kernel_without_bells_goes_to_a_gpu_and_back);
    suite_add_tcase(suite, sums);
    suite_add_tcase(suite, moves);
    return unit_run(suite);
}
