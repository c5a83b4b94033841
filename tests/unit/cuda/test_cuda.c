/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling with the real NVRTC: errors, options, architectures, files read. Skipped where it is missing. */
#include "backends/cuda/compile/cuda_compile.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"

static const char vector_add[] = SOURCE_FOLDER "/tests/kernels/vector_add.gyre.c";

START_TEST(an_error_points_to_the_users_line)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_int_eq(world_compile_text(&world, "#include <gyre/kernel.h>\n"
                                                "#define WORD(F) F(u32, value)\n"
                                                "GYRE_MESSAGE(word, WORD)\n"
                                                "GYRE_KERNEL(k, word, word)\n"
                                                "{\n"
                                                "    reply->value = request->nothing;\n"
                                                "    return GYRE_REPLY;\n"
                                                "}\n"),
                     GYRE_FAILED);
    expect_text("/somewhere/k.gyre.c:6: class \"word\" has no member \"nothing\"");
    ck_assert_ptr_nonnull(strstr(world.messages, "request->nothing"));
    ck_assert_ptr_null(world.image);
    ck_assert_int_ne(access(world.artifact, F_OK), 0);
    world_close(&world);
}
END_TEST

START_TEST(a_header_that_is_missing_is_named)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_int_eq(world_compile_text(&world, "#include <gyre/kernel.h>\n#include \"no_such.h\"\n"),
                     GYRE_FAILED);
    expect_text("/somewhere/k.gyre.c:2: ");
    expect_text("no_such.h");
    world_close(&world);
}
END_TEST

START_TEST(an_unknown_option_is_refused_with_its_name)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_int_eq(world_compile(&world, vector_add, "--no-such-option"), GYRE_FAILED);
    expect_text("--no-such-option");
    world_close(&world);
}
END_TEST

START_TEST(options_may_turn_contraction_on)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_msg(world_compile(&world, vector_add, "--fmad=true  -DOWN=1") == GYRE_OK, "%s",
                  gyre_error_text());
    world_close(&world);
}
END_TEST

START_TEST(an_architecture_that_nvrtc_does_not_know_is_refused_with_those_it_knows)
{
    struct world world;
    world_open(&world, "sm_20");
    ck_assert_int_eq(world_compile(&world, vector_add, ""), GYRE_UNAVAILABLE);
    expect_text("cannot compile for 'sm_20'; it knows sm_");
    world_close(&world);
}
END_TEST

static const char *const architectures[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

START_TEST(every_architecture_that_nvrtc_knows_gets_a_cubin)
{
    struct world world;
    world_open(&world, architectures[_i]);
    gyre_status status = world_compile(&world, vector_add, "");
    if (status != GYRE_UNAVAILABLE) {
        ck_assert_msg(status == GYRE_OK, "%s: %s", architectures[_i], gyre_error_text());
        ck_assert_msg(world_load(&world) == GYRE_OK, "%s: %s", architectures[_i], gyre_error_text());
        ck_assert_uint_gt(world.module->kernels[0].record.registers, 0);
        ck_assert_uint_gt(world.module->kernels[0].shared_size, 0);
        ck_assert_uint_lt(world.module->kernels[0].shared_size, 48 * 1024);
        ck_assert_uint_gt(world.module->kernels[0].record.shared_bytes, world.module->kernels[0].shared_size);
        ck_assert_uint_gt(world.module->kernels[0].record.blocks_per_unit, 0);
    }
    world_close(&world);
}
END_TEST

START_TEST(the_files_read_are_listed)
{
    static const char *const files[] = {SOURCE_FOLDER "/tests/kernels/vector_add.h\n",
                                        SOURCE_FOLDER "/include/gyre/kernel.h\n",
                                        SOURCE_FOLDER "/include/gyre/dialect/cuda_functions.h\n",
                                        SOURCE_FOLDER "/include/gyre/dialect/cuda_resident.h\n",
                                        SOURCE_FOLDER "/include/gyre/dialect/cuda_module.h\n"};
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_int_eq(world_compile(&world, vector_add, ""), GYRE_OK);
    char *list = world_read(world.dependencies, NULL);
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        ck_assert_msg(strstr(list, files[i]) != NULL, "%s is missing in\n%s", files[i], list);
    free(list);
    world_close(&world);
}
END_TEST

START_TEST(a_compile_beyond_its_deadline_leaves_nothing)
{
    struct world world;
    world_open(&world, "sm_90");
    const char *folders[] = {SOURCE_FOLDER "/include", NULL};
    FILE *unit = fopen(world.unit, "w");
    ck_assert_ptr_nonnull(unit);
    fputs("#include <gyre/kernel.h>\n", unit);
    fclose(unit);
    const gyre_compile_desc desc = {.size = sizeof desc,
                                    .unit_path = world.unit,
                                    .include_directories = folders,
                                    .options = "",
                                    .artifact_path = world.artifact,
                                    .deadline_ns = 1};
    ck_assert_int_eq(cuda_compile(world.device, &desc), GYRE_TIMEOUT);
    expect_text("compile_timeout_ms");
    ck_assert_int_ne(access(world.artifact, F_OK), 0);
    world_close(&world);
}
END_TEST

/* CMakeLists.txt names each of these cases. */
static Suite *make_suite(void)
{
    Suite *suite = suite_create("cuda");
    TCase *compile = tcase_create("compile");
    tcase_set_timeout(compile, 120);
    tcase_add_test(compile, an_error_points_to_the_users_line);
    tcase_add_test(compile, a_header_that_is_missing_is_named);
    tcase_add_test(compile, an_unknown_option_is_refused_with_its_name);
    tcase_add_test(compile, options_may_turn_contraction_on);
    tcase_add_test(compile, an_architecture_that_nvrtc_does_not_know_is_refused_with_those_it_knows);
    tcase_add_loop_test(compile, every_architecture_that_nvrtc_knows_gets_a_cubin, 0,
                        sizeof architectures / sizeof architectures[0]);
    tcase_add_test(compile, the_files_read_are_listed);
    tcase_add_test(compile, a_compile_beyond_its_deadline_leaves_nothing);
    suite_add_tcase(suite, compile);
    suite_add_tcase(suite, kernel_cases(1));
    suite_add_tcase(suite, kernel_cases(2));
    suite_add_tcase(suite, cubin_cases());
    suite_add_tcase(suite, driver_cases());
    suite_add_tcase(suite, parts_cases());
    return suite;
}

int main(void)
{
    struct gyre_host_services host;
    const struct cuda_nvrtc *nvrtc;
    gyre_host_init(&host, NULL, NULL);
    if (cuda_nvrtc_open(&host.table, "", &nvrtc) != GYRE_OK) {
        fprintf(stderr, "skipped: %s\n", gyre_error_text());
        return 77;
    }
    return unit_run(make_suite());
}
