/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers that fail, hang and are not there; the cache in front of them; artifacts that need none. */
#include "core/base/error.h"
#include "core/pipeline/build.h"
#include "gyre/waiting.h"
#include "world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A compiler of the test's own. */
static const char *program(const struct world *world, const char *script)
{
    const char *path = world_file(world, "compiler", script);
    ck_assert_int_eq(chmod(path, 0700), 0);
    return path;
}

/* A folder for a program is needed before the world that uses it. */
static void reopen(struct world *world, const char *setting, const char *script)
{
    struct world folder;
    char path[PATH_MAX];
    world_open(&folder, NULL, NULL, NULL);
    snprintf(path, sizeof path, "%s", program(&folder, script));
    world_close(&folder);
    world_open(world, setting, path, NULL);
}

START_TEST(a_compile_error_points_into_the_users_file)
{
    struct world world;
    char text[1024];
    snprintf(text, sizeof text, "%s", good_kernel);
    memcpy(strstr(text, "request->a[i]"), "request->q[i]", 13);
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, text), GYRE_FAILED);
    expect_text("backend 'cpu': compile: /");
    expect_text("k.gyre.c:7: ");
    expect_text("no member named");
    ck_assert_ptr_nonnull(strstr(world.report.messages, "request->q[i]"));
    world_close(&world);
}
END_TEST

START_TEST(an_error_in_an_included_header_is_found_there)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    world_file(&world, "own.h", "\nint broken(;\n");
    ck_assert_int_eq(world_run_text(&world, "#include <gyre/kernel.h>\n#include \"own.h\"\n"), GYRE_FAILED);
    expect_text("own.h:2: ");
    world_close(&world);
}
END_TEST

START_TEST(a_handler_without_a_body_does_not_link)
{
    struct world world;
    world_open(&world, "check=off", NULL, NULL);
    ck_assert_int_eq(
        world_run_text(&world, "#include <gyre/kernel.h>\nGYRE_KERNEL(k, gyre_none, gyre_none);\n"),
        GYRE_FAILED);
    expect_text("gyre_handler_k");
    world_close(&world);
}
END_TEST

START_TEST(without_a_compiler_it_says_what_to_do)
{
    struct world world;
    world_open(&world, NULL, "no-such-compiler", NULL);
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_UNAVAILABLE);
    expect_text("there is no C compiler 'no-such-compiler' on this machine: install one");
    expect_text("gyre compile -o");
    world_close(&world);
}
END_TEST

START_TEST(a_compiler_that_hangs_is_killed_in_time)
{
    struct world world;
    reopen(&world, "compile_timeout_ms=300", "#!/bin/sh\nsleep 60\n");
    uint64_t start = gyre_clock_ns();
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_TIMEOUT);
    ck_assert_uint_lt(gyre_clock_ns() - start, UINT64_C(30000000000)); /* of the 60 s that it would take */
    expect_text("did not end in the time that compile_timeout_ms allows and was killed");
    world_close(&world);
}
END_TEST

START_TEST(a_compiler_that_fails_without_a_word_is_told)
{
    struct world world;
    reopen(&world, NULL, "#!/bin/sh\nexit 3\n");
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_FAILED);
    expect_text("failed with exit code 3 and said nothing");
    world_close(&world);
}
END_TEST

START_TEST(a_compiler_that_writes_rubbish_is_found_out_at_loading)
{
    struct world world;
    reopen(&world, NULL,
           "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in -o) echo rubbish >\"$2\";; -MF) echo 'x: /dev/null' "
           ">\"$2\";; esac; shift; done\n");
    ck_assert_int_ne(world_run_text(&world, good_kernel), GYRE_OK);
    expect_text("load: ");
    world_close(&world);
}
END_TEST

START_TEST(the_second_run_comes_from_the_cache)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert(!world.report.cache_hit);
    ck_assert_str_eq(world.report.warning, "");
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert(world.report.cache_hit);
    ck_assert_int_eq(world.report.stages[GYRE_STAGE_COMPILE].state, GYRE_STAGE_CACHED);
    ck_assert_int_eq(access(world.report.artifact, R_OK), 0);
    world_close(&world);
}
END_TEST

START_TEST(a_changed_header_compiles_again_while_the_old_module_is_loaded)
{
    static const char text[] = "#include <gyre/kernel.h>\n#include \"size.h\"\n"
                               "#define ADD(FIELD) FIELD(f32, a[SIZE])\nGYRE_MESSAGE(add, ADD)\n"
                               "GYRE_KERNEL(k, add, add) { return GYRE_NO_REPLY; }\n";
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    world_file(&world, "size.h", "#define SIZE 4\n");
    ck_assert_int_eq(world_run_text(&world, text), GYRE_OK);
    struct gyre_build *old = world.build;
    world.build = NULL;
    world_file(&world, "size.h", "#define SIZE 8\n");
    ck_assert_int_eq(world_run_text(&world, text), GYRE_OK);
    ck_assert(!world.report.cache_hit);
    ck_assert_uint_eq(gyre_build_at(old, 0)->request->size, 16);
    ck_assert_uint_eq(gyre_build_at(world.build, 0)->request->size, 32);
    gyre_build_release(old);
    world_close(&world);
}
END_TEST

START_TEST(other_options_are_another_entry)
{
    struct world world;
    char source[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    snprintf(source, sizeof source, "%s/k.gyre.c", world.folder);
    struct gyre_build_desc desc = {.config = world.config,
                                   .device = world.device,
                                   .source = source,
                                   .options = "-DMORE",
                                   .report = &world.report};
    struct gyre_build *build;
    ck_assert_int_eq(gyre_build_run(&desc, &build), GYRE_OK);
    ck_assert(!world.report.cache_hit);
    gyre_build_release(build);
    world_close(&world);
}
END_TEST

START_TEST(a_cut_entry_is_compiled_again)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    gyre_build_release(world.build); /* a mapped file must not be cut */
    world.build = NULL;
    ck_assert_int_eq(truncate(world.report.artifact, 1000), 0);
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert(!world.report.cache_hit);
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert(world.report.cache_hit);
    world_close(&world);
}
END_TEST

START_TEST(without_a_cache_it_works_and_says_so)
{
    struct world world;
    char path[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    snprintf(path, sizeof path, "%s", world_file(&world, "cache", "a file in the way"));
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert_ptr_nonnull(strstr(world.report.warning, "compiled kernels are not kept: the cache folder"));
    ck_assert_str_eq(world.report.artifact, "");
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert(!world.report.cache_hit);
    world_close(&world);
}
END_TEST

START_TEST(keep_source_leaves_the_unit_beside_the_entry)
{
    struct world world;
    char path[PATH_MAX + 2];
    world_open(&world, "backend.cpu.keep_source=true", NULL, NULL);
    ck_assert_msg(world_run_text(&world, good_kernel) == GYRE_OK, "%s", gyre_error_text());
    snprintf(path, sizeof path, "%s.c", world.report.artifact);
    ck_assert_int_eq(access(path, R_OK), 0);
    ck_assert_int_eq(unlink(path), 0); /* as when the entry was made without the setting */
    ck_assert_int_eq(world_run_text(&world, good_kernel), GYRE_OK);
    ck_assert(world.report.cache_hit);
    ck_assert_int_eq(access(path, R_OK), 0);
    world_close(&world);
}
END_TEST

/* ---- artifacts ---- */

START_TEST(an_artifact_runs_without_a_compiler)
{
    struct world world;
    char path[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    snprintf(path, sizeof path, "%s/out.kernel", world.folder);
    ck_assert_int_eq(world_run(&world, world_file(&world, "k.gyre.c", good_kernel), path), GYRE_OK);
    ck_assert_str_eq(world.report.artifact, path);
    world_close(&world);
    world_open(&world, NULL, "no-such-compiler", NULL);
    ck_assert_msg(world_run(&world, path, NULL) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_str_eq(gyre_build_at(world.build, 0)->name, "twice");
    ck_assert_int_eq(world.report.stages[GYRE_STAGE_COMPILE].state, GYRE_STAGE_CACHED);
    world_close(&world);
}
END_TEST

/* A file compiled before is the handler that it was compiled from, also written out once more; one of an earlier Gyre,
 * which noted nothing of that, is unknown. */
START_TEST(an_artifact_knows_its_handler)
{
    struct world world;
    struct gyre_artifact artifact;
    char path[PATH_MAX], again[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    snprintf(path, sizeof path, "%s/out.kernel", world.folder);
    snprintf(again, sizeof again, "%s/again.kernel", world.folder);
    ck_assert_int_eq(world_run(&world, world_file(&world, "k.gyre.c", good_kernel), path), GYRE_OK);
    const uint64_t handler = gyre_build_handler(world.build);
    ck_assert_uint_ne(handler, 0);
    ck_assert_int_eq(world_run(&world, path, again), GYRE_OK);
    ck_assert_uint_eq(gyre_build_handler(world.build), handler);
    ck_assert_int_eq(world_run(&world, again, NULL), GYRE_OK);
    ck_assert_uint_eq(gyre_build_handler(world.build), handler);
    char note[4096];
    ck_assert_int_eq(gyre_artifact_open(path, &artifact), GYRE_OK);
    snprintf(note, sizeof note, "%.*s", (int)artifact.note_size,
             (const char *)artifact.map + artifact.image_size);
    char *line = strstr(note, "handler ");
    ck_assert_ptr_nonnull(line);
    memcpy(line, "unknown", 7);
    ck_assert_int_eq(gyre_artifact_write(again, artifact.map, artifact.image_size, note), GYRE_OK);
    gyre_artifact_close(&artifact);
    ck_assert_int_eq(world_run(&world, again, NULL), GYRE_OK);
    ck_assert_uint_eq(gyre_build_handler(world.build), 0);
    world_close(&world);
}
END_TEST

/* Writes an artifact whose note has one word exchanged. */
static void forge(const char *from, const char *to, const char *old, const char *new)
{
    struct gyre_artifact artifact;
    char note[4096];
    ck_assert_int_eq(gyre_artifact_open(from, &artifact), GYRE_OK);
    ck_assert_uint_lt(artifact.note_size, sizeof note - 64);
    memcpy(note, artifact.map + artifact.image_size, artifact.note_size);
    note[artifact.note_size] = '\0';
    char *at = strstr(note, old);
    ck_assert_ptr_nonnull(at);
    memcpy(at, new, strlen(new));
    ck_assert_int_eq(gyre_artifact_write(to, artifact.map, artifact.image_size, note), GYRE_OK);
    gyre_artifact_close(&artifact);
}

START_TEST(an_artifact_of_something_else_is_refused_with_both_names)
{
    struct world world;
    char path[PATH_MAX], forged[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    snprintf(path, sizeof path, "%s/out.kernel", world.folder);
    snprintf(forged, sizeof forged, "%s/forged.kernel", world.folder);
    ck_assert_int_eq(world_run(&world, world_file(&world, "k.gyre.c", good_kernel), path), GYRE_OK);
    forge(path, forged, "backend cpu", "backend xyz");
    ck_assert_int_eq(world_run(&world, forged, NULL), GYRE_INCOMPATIBLE);
    expect_text("was compiled for the backend 'xyz'; here it is 'cpu': compile it again for that");
    forge(path, forged, "architecture ", "architecture z80");
    ck_assert_int_eq(world_run(&world, forged, NULL), GYRE_INCOMPATIBLE);
    expect_text("was compiled for the architecture 'z80");
    forge(path, forged, "abi 2", "abi 9");
    ck_assert_int_eq(world_run(&world, forged, NULL), GYRE_INCOMPATIBLE);
    expect_text("ABI version '9'; here it is '2'");
    ck_assert_int_eq(truncate(path, 5000), 0);
    ck_assert_int_eq(world_run(&world, path, NULL), GYRE_INVALID);
    expect_text("its end is missing");
    world_close(&world);
}
END_TEST

START_TEST(an_output_that_cannot_be_written_is_named)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run(&world, world_file(&world, "k.gyre.c", good_kernel), "/nowhere/x"),
                     GYRE_FAILED);
    expect_text("output: '/nowhere/x' cannot be written: No such file or directory");
    world_close(&world);
}
END_TEST

static void *compile_often(void *argument)
{
    const struct world *world = argument;
    char source[PATH_MAX];
    size_t failures = 0;
    snprintf(source, sizeof source, "%s/k.gyre.c", world->folder);
    const struct gyre_build_desc desc = {.config = world->config, .device = world->device, .source = source};
    for (int i = 0; i < 5; i++) {
        struct gyre_build *build;
        failures += gyre_build_run(&desc, &build) != GYRE_OK;
        gyre_build_release(build);
    }
    return (void *)failures;
}

START_TEST(many_threads_compile_one_file)
{
    struct world world;
    pthread_t threads[4];
    void *failures;
    world_open(&world, NULL, NULL, NULL);
    world_file(&world, "k.gyre.c", good_kernel);
    for (int i = 0; i < 4; i++)
        unit_start(&threads[i], compile_often, &world);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failures);
        ck_assert_ptr_null(failures);
    }
    world_close(&world);
}
END_TEST

START_TEST(paths_with_spaces_quotes_and_dollars_work)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_msg(world_run(&world, world_file(&world, "a \"b\" $c #d\\e:f.gyre.c", good_kernel), NULL) ==
                      GYRE_OK,
                  "%s", gyre_error_text());
    world_close(&world);
}
END_TEST

START_TEST(byte_order_mark_and_carriage_returns_are_accepted)
{
    struct world world;
    char text[2048] = "\xef\xbb\xbf", *to = text + 3;
    for (const char *from = good_kernel; *from; from++) {
        if (*from == '\n')
            *to++ = '\r';
        *to++ = *from;
    }
    world_open(&world, NULL, NULL, NULL);
    ck_assert_msg(world_run_text(&world, text) == GYRE_OK, "%s", gyre_error_text());
    world_close(&world);
}
END_TEST

TCase *compile_cases(void)
{
    TCase *tcase = tcase_create("compile");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_compile_error_points_into_the_users_file);
    tcase_add_test(tcase, an_error_in_an_included_header_is_found_there);
    tcase_add_test(tcase, a_handler_without_a_body_does_not_link);
    tcase_add_test(tcase, without_a_compiler_it_says_what_to_do);
    tcase_add_test(tcase, a_compiler_that_hangs_is_killed_in_time);
    tcase_add_test(tcase, a_compiler_that_fails_without_a_word_is_told);
    tcase_add_test(tcase, a_compiler_that_writes_rubbish_is_found_out_at_loading);
    tcase_add_test(tcase, the_second_run_comes_from_the_cache);
    tcase_add_test(tcase, a_changed_header_compiles_again_while_the_old_module_is_loaded);
    tcase_add_test(tcase, other_options_are_another_entry);
    tcase_add_test(tcase, a_cut_entry_is_compiled_again);
    tcase_add_test(tcase, without_a_cache_it_works_and_says_so);
    tcase_add_test(tcase, keep_source_leaves_the_unit_beside_the_entry);
    tcase_add_test(tcase, an_artifact_runs_without_a_compiler);
    tcase_add_test(tcase, an_artifact_of_something_else_is_refused_with_both_names);
    tcase_add_test(tcase, an_artifact_knows_its_handler);
    tcase_add_test(tcase, an_output_that_cannot_be_written_is_named);
    tcase_add_test(tcase, many_threads_compile_one_file);
    tcase_add_test(tcase, paths_with_spaces_quotes_and_dollars_work);
    tcase_add_test(tcase, byte_order_mark_and_carriage_returns_are_accepted);
    return tcase;
}
