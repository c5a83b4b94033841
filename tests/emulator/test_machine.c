/* SPDX-License-Identifier: Apache-2.0 */
/* The machine on its own, by small texts of PTX. What compilers make of whole kernels runs in the other tests. */
#include "test_run.h"
#include "../patience.h"

#include <string.h>
#include <time.h>

static const char header[] = ".version 8.0\n.target sm_90\n.address_size 64\n";

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct machine_grid *run_start(const struct run *run, struct machine_module **module)
{
    char text[16384], error[300] = "";
    void *address = run->memory;
    void *arguments[] = {&address};
    ck_assert_uint_lt((unsigned)snprintf(text, sizeof text, "%s%s", header, run->ptx), sizeof text);
    *module = machine_module_load(text, error, sizeof error);
    ck_assert_msg(*module != NULL, "%s", error);
    machine_memory_add(run->memory, run->size);
    const struct machine_launch launch = {.function = machine_function_find(*module, "k"),
                                          .grid = {run->blocks ? run->blocks : 1, 1, 1},
                                          .block = {run->threads ? run->threads : 32, 1, 1},
                                          .dynamic_shared = run->dynamic_shared,
                                          .arguments = arguments};
    ck_assert_ptr_nonnull(launch.function);
    struct machine_grid *grid = machine_grid_start(&launch, error, sizeof error);
    ck_assert_msg(grid != NULL, "%s", error);
    return grid;
}

struct machine_fault run_end(const struct run *run, struct machine_grid *grid, struct machine_module *module)
{
    struct machine_fault fault;
    const bool ended = machine_grid_wait(grid, now_ns() + patiently(UINT64_C(10000000000)), &fault);
    machine_grid_destroy(grid);
    machine_memory_remove(run->memory);
    machine_module_unload(module);
    ck_assert_msg(ended, "the kernel did not end");
    return fault;
}

struct machine_fault run_whole(const struct run *run)
{
    struct machine_module *module;
    struct machine_grid *grid = run_start(run, &module);
    return run_end(run, grid, module);
}

/* ---- texts that are refused ---- */

static void refused(const char *ptx, const char *expected)
{
    char text[2048], error[300] = "";
    snprintf(text, sizeof text, "%s%s", header, ptx);
    struct machine_module *module = machine_module_load(text, error, sizeof error);
    ck_assert_ptr_null(module);
    ck_assert_msg(strstr(error, expected) != NULL, "expected '%s' in '%s'", expected, error);
}

START_TEST(what_is_not_modelled_is_refused_with_its_line)
{
    refused(".visible .entry k()\n{\n\twgmma.fence.sync.aligned;\n}", "line 6: the instruction 'wgmma.fence");
    refused(".visible .entry k()\n{\n .reg .b32 %r<2>;\n frobnicate.u32 %r1, %r0;\n}", "line 7");
    refused(".visible .entry k()\n{\n .reg .b32 %r<2>;\n mov.u32 %r2, 1;\n}", "'%r2' is not known");
    refused(".visible .entry k()\n{\n bra nowhere;\n}", "no label 'nowhere'");
    refused(".visible .entry k()\n{\n", "the text ends");
    refused(".visible .entry k()\n{\n ld.global.u32 %r1;\n}", "line 6");
    refused(".extern .func missing();\n.visible .entry k()\n{\n call missing;\n}", "'missing'");
    refused(".texref t;", "'.texref' is not modelled");
}
END_TEST

/* A text may end or be wrong at any place: a sentence, never a crash. */
START_TEST(cut_texts_are_refused_or_loaded)
{
    static const char whole[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".global .align 8 .b8 data[16] = {1, 2, 3};\n"
        ".visible .entry k(.param .u64 p)\n.maxntid 32\n{\n"
        ".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n"
        "ld.param.u64 %rd1, [p];\n$a:\nadd.s32 %r1, %r2, -4;\n"
        "setp.eq.s32 %p1, %r1, 0;\n@!%p1 bra $a;\n{ .reg .b32 %x; mov.b32 %x, 0f3F800000; }\n"
        "ld.global.v2.u32 {%r1, %r2}, [%rd1+8];\nshfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;\n"
        "ret;\n}\n";
    char text[sizeof whole], error[300];
    for (size_t length = 0; length < sizeof whole; length++) {
        memcpy(text, whole, length);
        text[length] = '\0';
        machine_module_unload(machine_module_load(text, error, sizeof error));
        for (int c = 0; c < 3 && length > 0; c++) { /* and with a wrong character at its end */
            text[length - 1] = "}[%"[c];
            machine_module_unload(machine_module_load(text, error, sizeof error));
        }
    }
    struct machine_module *module = machine_module_load(whole, error, sizeof error);
    ck_assert_msg(module != NULL, "%s", error);
    const struct machine_function_info info = machine_function_describe(machine_function_find(module, "k"));
    ck_assert_uint_eq(info.threads_max, 32);
    ck_assert_uint_eq(info.argument_count, 1);
    ck_assert_uint_eq(info.argument_sizes[0], 8);
    machine_module_unload(module);
}
END_TEST

static TCase *text_cases(void)
{
    TCase *cases = tcase_create("texts");
    tcase_add_test(cases, what_is_not_modelled_is_refused_with_its_line);
    tcase_add_test(cases, cut_texts_are_refused_or_loaded);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("machine");
    suite_add_tcase(suite, text_cases());
    suite_add_tcase(suite, arithmetic_cases());
    suite_add_tcase(suite, warp_cases());
    suite_add_tcase(suite, block_cases());
    suite_add_tcase(suite, memory_cases());
    return unit_run(suite);
}
