/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives by NCCL, for which a library of the tests stands in (nccl_stand_in.c): when it is used and when not, what it makes, and what becomes of
 * its failures. It complains of kernels that it meets on a GPU, and so of each that did not leave.
 */
#include "gyre/collect.h"
#include "unit/unit.h"

#include <string.h>
#include <unistd.h>

enum { DEVICES_MAX = 4, CELLS = 1500, WEIGHTS = 700, FIRST = 3, INFO = 3 };

static gyre_runtime *runtime;
static uint32_t device_count;
static gyre_kernel *kernels[DEVICES_MAX];
static gyre_buffer *cells[DEVICES_MAX], *weights[DEVICES_MAX];
static char told[] = "/tmp/gyre-nccl-XXXXXX";
static char log_text[4096];

#define MUST(call) ck_assert_msg((call) == GYRE_OK, "%s", gyre_error_text())

static void keep_line(void *context, int level, const char *text)
{
    (void)context;
    const size_t used = strlen(log_text);
    if (level <= INFO)
        snprintf(log_text + used, sizeof log_text - used, "%s\n", text);
}

static uint32_t content(uint32_t device, uint32_t cell)
{
    return (device + 1) * 1000003 + cell * 7;
}

/* Their sum depends on the order: a large one in front takes the small ones away. */
static double weight(uint32_t device)
{
    return device == 0 ? 1e16 : 1.0;
}

static void fill(void)
{
    static uint32_t bytes[CELLS];
    static double numbers[WEIGHTS];
    for (uint32_t device = 0; device < device_count; device++) {
        for (uint32_t i = 0; i < CELLS; i++)
            bytes[i] = content(device, i);
        for (uint32_t i = 0; i < WEIGHTS; i++)
            numbers[i] = weight(device);
        MUST(gyre_buffer_upload(cells[device], 0, bytes, sizeof bytes));
        MUST(gyre_buffer_upload(weights[device], 0, numbers, sizeof numbers));
    }
}

static void launch_part(uint32_t part)
{
    static const char *const names[] = {"zero", "one", "two", "three"};
    MUST(gyre_buffer_alloc(runtime, "cuda", part, CELLS * sizeof(uint32_t), &cells[part]));
    MUST(gyre_buffer_alloc(runtime, "cuda", part, WEIGHTS * sizeof(double), &weights[part]));
    const gyre_binding_name bindings[] = {{"cells", cells[part]}, {"weights", weights[part]}};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = GYRE_TEST_KERNELS "/collect.gyre.c",
                                   .kernel = "collect_fill",
                                   .name = names[part],
                                   .backend = "cuda",
                                   .device = part,
                                   .lanes = 1,
                                   .blocks = 1,
                                   .bindings = bindings,
                                   .binding_count = 2};
    MUST(gyre_launch(runtime, &desc, &kernels[part]));
}

/* `wish`: as NCCL_STAND_IN has it. */
static void begin(uint32_t devices, const char *collectives, const char *library, const char *wish)
{
    char who[64], where[512];
    const char *const settings[] = {who, where, "kernel.default.stands_soon=true", NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings, .log = keep_line};
    const int file = mkstemp(told);
    ck_assert_int_ge(file, 0);
    close(file);
    snprintf(who, sizeof who, "backend.cuda.collectives=%s", collectives);
    snprintf(where, sizeof where, "backend.cuda.nccl=%s", library);
    setenv("EMULATOR_PEER_COPIES", told, 1);
    setenv("EMULATOR_DEVICES", devices == 2 ? "2" : "4", 1);
    setenv("NCCL_STAND_IN", wish, 1);
    device_count = devices;
    MUST(gyre_open(&desc, &runtime));
    for (uint32_t i = 0; i < devices; i++)
        launch_part(i);
    fill();
}

/* How many lines of what the driver and the stand-in did have the text. */
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

static void end(void)
{
    gyre_close(runtime);
    ck_assert_uint_eq(count_told("nccl end"), count_told("communicator") ? device_count : 0);
    unlink(told);
}

static gyre_collect_desc of(const char *buffer)
{
    return (gyre_collect_desc){.size = sizeof(gyre_collect_desc),
                               .kernels = kernels,
                               .kernel_count = device_count,
                               .buffer = buffer,
                               .first = FIRST};
}

static gyre_status combine(const char *buffer, gyre_collect_rule rule, uint64_t milliseconds)
{
    const gyre_collect_desc desc = of(buffer);
    return gyre_all_reduce(&desc, rule, gyre_in_ms(milliseconds));
}

/* Bit I of `getting`: part I has `value`, or the sum with `value` 0; the others have what they had. */
static void check_cells(uint32_t getting, uint32_t source)
{
    static uint32_t seen[CELLS];
    for (uint32_t device = 0; device < device_count; device++) {
        MUST(gyre_buffer_download(cells[device], 0, seen, sizeof seen));
        for (uint32_t i = 0; i < CELLS; i++) {
            uint32_t expected = content(device, i), sum = 0;
            for (uint32_t k = 0; k < device_count; k++)
                sum += content(k, i);
            if (i >= FIRST && getting & 1u << device)
                expected = source < device_count ? content(source, i) : sum;
            ck_assert_uint_eq(seen[i], expected);
        }
    }
}

enum { NOBODY = 0, ALL = 15, SUM = DEVICES_MAX };

static double first_weight(void)
{
    double seen;
    MUST(gyre_buffer_download(weights[0], FIRST * sizeof seen, &seen, sizeof seen));
    return seen;
}

static void expect_in_log(const char *text)
{
    ck_assert_msg(strstr(log_text, text) != NULL, "expected '%s' in: %s", text, log_text);
}

START_TEST(four_gpus_have_nccl_combine_what_has_one_result)
{
    begin(4, "auto", STAND_IN, "");
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    check_cells(ALL, SUM);
    fill();
    const gyre_collect_desc desc = of("cells");
    MUST(gyre_reduce(&desc, GYRE_COLLECT_SUM, 2, gyre_in_ms(60000)));
    check_cells(1u << 2, SUM);
    fill();
    MUST(gyre_broadcast(&desc, 1, gyre_in_ms(60000)));
    check_cells(ALL & ~2u, 1);
    ck_assert_uint_eq(count_told("nccl communicator of 4"), 1);
    ck_assert_uint_eq(count_told("nccl all-reduce of 4"), 1);
    ck_assert_uint_eq(count_told("nccl reduce of 4"), 1);
    ck_assert_uint_eq(count_told("nccl broadcast of 4"), 1);
    ck_assert_uint_eq(count_told("combines"), 0);
    end();
}
END_TEST

/* 1e16 + 1 is 1e16 again: only in NCCL's order the small numbers count. */
START_TEST(two_gpus_have_nccl_combine_where_it_is_asked_for)
{
    begin(2, "nccl", STAND_IN, "");
    kernels[2] = kernels[0]; /* parts in another order than the GPUs */
    memmove(kernels, kernels + 1, 2 * sizeof kernels[0]);
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    check_cells(ALL, SUM);
    MUST(combine("weights", GYRE_COLLECT_SUM, 60000));
    ck_assert_uint_eq(count_told("nccl all-reduce of 2"), 2);
    ck_assert_uint_eq(count_told("combines"), 0);
    MUST(combine("weights", GYRE_COLLECT_MAX, 60000)); /* NaN is Gyre's */
    ck_assert_uint_eq(count_told("nccl all-reduce of 2"), 2);
    ck_assert_uint_eq(count_told("combines"), 2);
    expect_in_log("it passes over NaN");
    end();
}
END_TEST

START_TEST(unasked_sums_of_floats_keep_their_order)
{
    begin(4, "auto", STAND_IN, "");
    MUST(combine("weights", GYRE_COLLECT_SUM, 60000));
    ck_assert_double_eq(first_weight(), 1e16);
    ck_assert_uint_eq(count_told("nccl"), 0);
    ck_assert_str_eq(log_text, "");
    end();
}
END_TEST

START_TEST(the_host_combines_where_that_is_asked_for)
{
    begin(2, "host", STAND_IN, "");
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    check_cells(ALL, SUM);
    ck_assert_uint_eq(count_told("nccl"), 0);
    ck_assert_uint_eq(count_told("combines"), 0);
    end();
}
END_TEST

static void check_without(const char *library, const char *wish, const char *sentence)
{
    begin(2, "nccl", library, wish);
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    check_cells(ALL, SUM);
    ck_assert_uint_eq(count_told("nccl"), 0);
    ck_assert_uint_eq(count_told("combines"), 2);
    expect_in_log("a collective goes without NCCL");
    expect_in_log(sentence);
    end();
}

START_TEST(a_library_that_is_not_there_is_told)
{
    check_without("/nowhere/libnccl.so.2", "", "NCCL '/nowhere/libnccl.so.2' is not there");
}
END_TEST

START_TEST(a_library_of_another_version_is_told)
{
    check_without(STAND_IN, "old", "its version is 1300: expected one from 21400");
}
END_TEST

START_TEST(a_library_that_never_makes_a_communicator_is_given_up)
{
    begin(2, "nccl", STAND_IN, "stuck");
    MUST(combine("weights", GYRE_COLLECT_MAX, 60000)); /* the GPUs let each other in, which takes its time */
    (void)combine("cells", GYRE_COLLECT_SUM, 8000);    /* the host's, if there is still time */
    expect_in_log("did not come back in time");
    fill();
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    check_cells(ALL, SUM);
    ck_assert_uint_eq(count_told("combines"), 4);
    end();
}
END_TEST

/* Three times, and then NCCL is not asked any more. */
static void check_failing(const char *wish, uint64_t milliseconds, gyre_status status, const char *sentence)
{
    begin(2, "nccl", STAND_IN, wish);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(combine("cells", GYRE_COLLECT_SUM, milliseconds), status);
        ck_assert_msg(strstr(gyre_error_text(), sentence) != NULL, "%s", gyre_error_text());
        check_cells(NOBODY, SUM);
    }
    ck_assert_uint_eq(count_told("nccl abort"), 6);
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    check_cells(ALL, SUM);
    expect_in_log("it failed three times in a row");
    gyre_close(runtime);
    unlink(told);
}

START_TEST(a_failure_of_nccl_changes_nothing)
{
    check_failing("fails", 60000, GYRE_FAILED, "ncclGroupEnd of NCCL failed with 2 (unhandled system error)");
}
END_TEST

START_TEST(a_communicator_that_breaks_changes_nothing)
{
    check_failing("breaks", 60000, GYRE_FAILED, "failed with 6 (remote error)");
}
END_TEST

START_TEST(a_collective_that_hangs_is_ended)
{
    begin(2, "nccl", STAND_IN, "");
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000));
    fill();
    setenv("NCCL_STAND_IN", "hangs", 1);
    ck_assert_int_eq(combine("cells", GYRE_COLLECT_SUM, 500), GYRE_TIMEOUT);
    check_cells(NOBODY, SUM);
    setenv("NCCL_STAND_IN", "", 1);
    MUST(combine("cells", GYRE_COLLECT_SUM, 60000)); /* by another communicator, if that one was aborted */
    check_cells(ALL, SUM);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collectives by NCCL");
    TCase *works = tcase_create("works"), *fails = tcase_create("fails");
    tcase_set_timeout(works, 60);
    tcase_set_timeout(fails, 60);
    tcase_add_test(works, four_gpus_have_nccl_combine_what_has_one_result);
    tcase_add_test(works, two_gpus_have_nccl_combine_where_it_is_asked_for);
    tcase_add_test(works, unasked_sums_of_floats_keep_their_order);
    tcase_add_test(works, the_host_combines_where_that_is_asked_for);
    tcase_add_test(fails, a_library_that_is_not_there_is_told);
    tcase_add_test(fails, a_library_of_another_version_is_told);
    tcase_add_test(fails, a_library_that_never_makes_a_communicator_is_given_up);
    tcase_add_test(fails, a_failure_of_nccl_changes_nothing);
    tcase_add_test(fails, a_communicator_that_breaks_changes_nothing);
    tcase_add_test(fails, a_collective_that_hangs_is_ended);
    suite_add_tcase(suite, works);
    suite_add_tcase(suite, fails);
    return unit_run(suite);
}
