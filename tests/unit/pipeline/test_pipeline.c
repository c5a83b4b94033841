/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files that are wrong, each with its sentence; and what a build answers. */
#include "core/base/error.h"
#include "core/pipeline/build.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char temporary[] = "/tmp/gyre-test-pipeline-XXXXXX";

const char good_kernel[] = "#include <gyre/kernel.h>\n"
                           "#define ADD(FIELD) FIELD(f32, a[4])\n"
                           "GYRE_MESSAGE(add, ADD)\n"
                           "GYRE_KERNEL(twice, add, add)\n"
                           "{\n"
                           "    for (u32 i = 0; i < 4; i++)\n"
                           "        reply->a[i] = 2 * request->a[i];\n"
                           "    return GYRE_REPLY;\n"
                           "}\n";

void world_open(struct world *world, const char *setting, const char *compiler, const char *options)
{
    char cache[PATH_MAX];
    const gyre_parameter parameters[] = {{"compiler", compiler ? compiler : "cc", "test"},
                                         {"compiler_options", options ? options : "-O1", "test"}};
    const struct gyre_candidate cpu = {.name = "cpu",
                                       .library = GYRE_CPU_PLUGIN,
                                       .origin = "test",
                                       .enabled = true,
                                       .parameters = parameters,
                                       .parameter_count = 2};
    memset(world, 0, sizeof *world);
    snprintf(world->folder, sizeof world->folder, "%s/XXXXXX", temporary);
    ck_assert_ptr_nonnull(mkdtemp(world->folder));
    snprintf(cache, sizeof cache, "cache_dir=%s/cache", world->folder);
    const char *settings[] = {cache, setting, NULL};
    const struct gyre_config_desc desc = {.api = settings,
                                          .environment = (const char *const[]){NULL},
                                          .home = world->folder,
                                          .system_folder = world->folder};
    ck_assert_msg(gyre_config_load(&desc, &world->config) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_msg(gyre_dispatch_open(&cpu, 0, NULL, NULL, &world->device) == GYRE_OK, "%s",
                  gyre_error_text());
}

void world_close(struct world *world)
{
    gyre_build_release(world->build);
    gyre_dispatch_close(world->device);
    gyre_config_destroy(world->config);
}

const char *world_file(const struct world *world, const char *name, const char *text)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

gyre_status world_run(struct world *world, const char *source, const char *output)
{
    gyre_build_release(world->build);
    struct gyre_build_desc desc = {.config = world->config,
                                   .device = world->device,
                                   .source = source,
                                   .output = output,
                                   .report = &world->report};
    gyre_error_clear();
    gyre_status status = gyre_build_run(&desc, &world->build);
    ck_assert((status == GYRE_OK) == (world->build != NULL));
    ck_assert((status == GYRE_OK) == (gyre_error_text()[0] == '\0') || status == GYRE_OK);
    return status;
}

gyre_status world_run_text(struct world *world, const char *text)
{
    return world_run(world, world_file(world, "k.gyre.c", text), NULL);
}

void expect_text(const char *part)
{
    ck_assert_msg(strstr(gyre_error_text(), part), "expected '%s' in: %s", part, gyre_error_text());
}

/* ---- the source ---- */

START_TEST(a_missing_file_is_named_with_the_folder)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run(&world, "no_such.gyre.c", NULL), GYRE_NOT_FOUND);
    expect_text("discover: kernel file 'no_such.gyre.c' (seen from '/");
    expect_text("cannot be opened: No such file or directory");
    ck_assert_int_eq(world.report.stages[GYRE_STAGE_DISCOVER].state, GYRE_STAGE_FAILED);
    ck_assert_int_eq(world.report.stages[GYRE_STAGE_CHECK].state, GYRE_STAGE_NOT_REACHED);
    world_close(&world);
}
END_TEST

/* SIGXFSZ has its default here, which would end the process. */
START_TEST(a_limit_of_file_sizes_is_a_sentence)
{
    struct world world;
    struct rlimit before, none;
    world_open(&world, NULL, NULL, NULL);
    const char *path = world_file(&world, "k.gyre.c", good_kernel);
    getrlimit(RLIMIT_FSIZE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    struct gyre_build_desc desc = {.config = world.config, .device = world.device, .source = path};
    gyre_status status = gyre_build_run(&desc, &world.build);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_ne(status, GYRE_OK);
    expect_text("File too large");
    world_close(&world);
}
END_TEST

START_TEST(folders_devices_and_pipes_are_refused_at_once)
{
    struct world world;
    char fifo[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run(&world, world.folder, NULL), GYRE_INVALID);
    expect_text("is a folder; expected a file of C text");
    ck_assert_int_eq(world_run(&world, "/dev/zero", NULL), GYRE_INVALID);
    expect_text("is no regular file");
    snprintf(fifo, sizeof fifo, "%s/fifo", world.folder);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(world_run(&world, fifo, NULL), GYRE_INVALID);
    expect_text("is no regular file");
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    snprintf(fifo, sizeof fifo, "/proc/self/fd/%d", ends[0]);
    ck_assert_int_eq(world_run(&world, fifo, NULL), GYRE_INVALID);
    expect_text("is no regular file");
    close(ends[0]);
    close(ends[1]);
    world_close(&world);
}
END_TEST

START_TEST(a_file_that_tells_no_size_is_read)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run(&world, "/proc/version", NULL), GYRE_INVALID);
    expect_text("/proc/version:1");
    world_close(&world);
}
END_TEST

static void expect_included(struct world *world, const char *include, const char *sentence)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", include, good_kernel);
    ck_assert_int_eq(world_run_text(world, text), GYRE_INVALID);
    expect_text(sentence);
}

START_TEST(included_devices_and_pipes_are_refused_at_once)
{
    struct world world;
    char fifo[PATH_MAX];
    world_open(&world, NULL, NULL, NULL);
    snprintf(fifo, sizeof fifo, "%s/fifo.h", world.folder);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    world_file(&world, "circle.h", "#include \"circle.h\"\n\n  #  include \"fifo.h\"\n");
    expect_included(&world, "#include \"/dev/zero\"\n",
                    "k.gyre.c:1: the included file '/dev/zero' is a device; expected a file of C text");
    expect_included(&world, "\n#include </dev/zero>\n",
                    "k.gyre.c:2: the included file '/dev/zero' is a device");
    expect_included(&world, "#include \"fifo.h\"\n", "k.gyre.c:1: the included file 'fifo.h' is a pipe");
    expect_included(&world, "#include \"circle.h\"\n", "circle.h:3: the included file 'fifo.h' is a pipe");
    ck_assert_int_eq(world.report.stages[GYRE_STAGE_DISCOVER].state, GYRE_STAGE_FAILED);
    world_close(&world);
}
END_TEST

START_TEST(nothing_named_empty_and_binary_files_are_told_apart)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run(&world, "", NULL), GYRE_INVALID);
    expect_text("no kernel file was named");
    ck_assert_int_eq(world_run_text(&world, ""), GYRE_INVALID);
    expect_text("k.gyre.c' is empty");
    const char *path = world_file(&world, "nul.gyre.c", "int x;");
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_int_eq(world_run(&world, path, NULL), GYRE_INVALID);
    expect_text("byte 6 is NUL");
    ck_assert_int_eq(truncate(path, 5 << 20), 0);
    ck_assert_int_eq(world_run(&world, path, NULL), GYRE_INVALID);
    expect_text("is longer than 4194304 bytes, which are the limit");
    world_close(&world);
}
END_TEST

START_TEST(a_file_without_kernels_is_refused_with_and_without_the_check)
{
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_ne(world_run_text(&world, "int x;\n"), GYRE_OK);
    expect_text("no kernel in it");
    ck_assert_int_ne(world_run_text(&world, "#include <gyre/kernel.h>\n"), GYRE_OK);
    expect_text("no kernel in ");
    world_close(&world);
    world_open(&world, "check=off", NULL, NULL);
    ck_assert_int_ne(world_run_text(&world, "int x;\n"), GYRE_OK);
    expect_text("k.gyre.c:1: #error \"no kernel in it: a kernel file includes <gyre/kernel.h>\"");
    ck_assert_int_eq(world_run_text(&world, "#include <gyre/kernel.h>\n"), GYRE_INVALID);
    expect_text("load: no kernel in '");
    world_close(&world);
}
END_TEST

START_TEST(two_kernels_of_one_name_are_refused_where_the_second_stands)
{
    static const char twice[] = "GYRE_KERNEL(twice, add, add) { return GYRE_NO_REPLY; }\n";
    char text[1024], path[PATH_MAX];
    struct world world;
    snprintf(text, sizeof text, "%s%s", good_kernel, twice);
    world_open(&world, "check=off", NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, text), GYRE_FAILED);
    expect_text("k.gyre.c:10: redefinition of");
    world_close(&world);
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_ne(world_run_text(&world, text), GYRE_OK);
    if (world.report.stages[GYRE_STAGE_CHECK].state != GYRE_STAGE_SKIPPED)
        expect_text("k.gyre.c:10: two kernels are named 'twice', the other one in line 4: rename one");
    snprintf(path, sizeof path, "%s/k.gyre.c", world.folder);
    ck_assert_str_eq(world.report.file, path);
    world_close(&world);
}
END_TEST

START_TEST(a_broken_rule_is_refused_whatever_the_compiler_says)
{
    char text[1024];
    struct world world;
    snprintf(text, sizeof text, "#include <gyre/kernel.h>\nstatic int counter;\n%s", good_kernel);
    world_open(&world, NULL, NULL, NULL);
    gyre_status status = world_run_text(&world, text);
    if (world.report.stages[GYRE_STAGE_CHECK].state == GYRE_STAGE_SKIPPED) {
        ck_assert_int_eq(status, GYRE_OK); /* no libclang here: the stage says so, and the compile goes on */
        ck_assert_ptr_nonnull(strstr(world.report.stages[GYRE_STAGE_CHECK].text, "not installed"));
    } else {
        ck_assert_int_eq(status, GYRE_INVALID);
        expect_text("check: /");
        expect_text("k.gyre.c:2: global variable 'counter'");
        ck_assert_int_eq(world.report.stages[GYRE_STAGE_COMPILE].state, GYRE_STAGE_SKIPPED);
    }
    world_close(&world);
    world_open(&world, "check=off", NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, text), GYRE_OK);
    ck_assert_str_eq(world.report.stages[GYRE_STAGE_CHECK].text, "the setting check is off");
    world_close(&world);
}
END_TEST

START_TEST(a_layout_that_the_text_does_not_tell_is_refused)
{
    static const char text[] = "#include <gyre/kernel.h>\n"
                               "#define BAD(FIELD) FIELD(u32, *pointer)\n"
                               "GYRE_MESSAGE(bad, BAD)\n"
                               "GYRE_KERNEL(k, bad, gyre_none) { return GYRE_NO_REPLY; }\n";
    struct world world;
    world_open(&world, "check=off", NULL, NULL); /* which refuses it */
    ck_assert_int_ne(world_run_text(&world, text), GYRE_OK);
    expect_text("verify: the request of kernel 'k'");
    ck_assert_int_eq(world.report.stages[GYRE_STAGE_VERIFY].state, GYRE_STAGE_FAILED);
    world_close(&world);
}
END_TEST

START_TEST(a_state_with_a_tail_is_refused_without_the_check_too)
{
    static const char text[] = "#include <gyre/kernel.h>\n"
                               "#define NOTES(FIELD) FIELD(utf8, text)\n"
                               "GYRE_MESSAGE_TAIL(notes, NOTES, 100)\n"
                               "GYRE_ACTOR(k, gyre_none, gyre_none, notes) { return GYRE_NO_REPLY; }\n";
    struct world world;
    world_open(&world, "check=off", NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, text), GYRE_INVALID);
    expect_text("verify: the state of kernel 'k': 'notes' has a tail, which only a request or a reply has");
    world_close(&world);
}
END_TEST

START_TEST(more_scratch_than_the_device_has_is_refused)
{
    static const char text[] =
        "#include <gyre/kernel.h>\n"
        "#define LARGE(FIELD) FIELD(u64, x[1000000])\n"
        "GYRE_MESSAGE(large, LARGE)\n"
        "GYRE_BLOCK_KERNEL(k, gyre_none, gyre_none, large) { return GYRE_NO_REPLY; }\n";
    struct world world;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, text), GYRE_INVALID);
    expect_text("verify: kernel 'k' of '");
    expect_text("needs 8000000 bytes of block scratch memory");
    world_close(&world);
}
END_TEST

/* ---- what a build answers ---- */

START_TEST(the_only_kernel_needs_no_name)
{
    struct world world;
    const gyre_kernel_record *record;
    world_open(&world, NULL, NULL, NULL);
    ck_assert_msg(world_run_text(&world, good_kernel) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_int_eq(gyre_build_kernel(world.build, NULL, &record), GYRE_OK);
    ck_assert_str_eq(record->name, "twice");
    ck_assert_uint_eq(record->request->size, 16);
    ck_assert_int_eq(record->form, GYRE_FORM_LANE);
    ck_assert_ptr_nonnull(gyre_build_module(world.build));
    ck_assert_ptr_null(gyre_build_at(world.build, 1));
    world_close(&world);
}
END_TEST

START_TEST(of_several_kernels_one_must_be_named)
{
    char text[1024], source[PATH_MAX];
    struct world world;
    const gyre_kernel_record *record;
    snprintf(text, sizeof text, "%sGYRE_KERNEL(thrice, add, add) { return GYRE_NO_REPLY; }\n", good_kernel);
    world_open(&world, NULL, NULL, NULL);
    ck_assert_int_eq(world_run_text(&world, text), GYRE_OK);
    ck_assert_int_eq(gyre_build_kernel(world.build, NULL, &record), GYRE_INVALID);
    expect_text("has 2 kernels (twice, thrice): say which one");
    ck_assert_int_eq(gyre_build_kernel(world.build, "thrice", &record), GYRE_OK);
    ck_assert_int_eq(gyre_build_kernel(world.build, "thrise", &record), GYRE_NOT_FOUND);
    expect_text("there is no kernel 'thrise'");
    expect_text("which has: twice, thrice; did you mean 'thrice'?");
    snprintf(source, sizeof source, "%s/k.gyre.c:thrice", world.folder);
    ck_assert_int_eq(world_run(&world, source, NULL), GYRE_OK);
    ck_assert_int_eq(gyre_build_kernel(world.build, NULL, &record), GYRE_OK);
    ck_assert_str_eq(record->name, "thrice");
    ck_assert_int_eq(gyre_build_kernel(world.build, "thrice", &record), GYRE_OK);
    ck_assert_int_eq(gyre_build_kernel(world.build, "twice", &record), GYRE_INVALID);
    expect_text("the launch names the kernel 'twice', and its source, '");
    snprintf(source, sizeof source, "%s/k.gyre.c:nothing", world.folder);
    ck_assert_int_eq(world_run(&world, source, NULL), GYRE_NOT_FOUND);
    expect_text("verify: there is no kernel 'nothing'");
    world_close(&world);
}
END_TEST

static TCase *source_cases(void)
{
    TCase *tcase = tcase_create("source");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_missing_file_is_named_with_the_folder);
    tcase_add_test(tcase, a_file_that_tells_no_size_is_read);
    tcase_add_test(tcase, folders_devices_and_pipes_are_refused_at_once);
    tcase_add_test(tcase, included_devices_and_pipes_are_refused_at_once);
    tcase_add_test(tcase, a_limit_of_file_sizes_is_a_sentence);
    tcase_add_test(tcase, nothing_named_empty_and_binary_files_are_told_apart);
    tcase_add_test(tcase, a_file_without_kernels_is_refused_with_and_without_the_check);
    tcase_add_test(tcase, two_kernels_of_one_name_are_refused_where_the_second_stands);
    tcase_add_test(tcase, a_broken_rule_is_refused_whatever_the_compiler_says);
    tcase_add_test(tcase, a_layout_that_the_text_does_not_tell_is_refused);
    tcase_add_test(tcase, a_state_with_a_tail_is_refused_without_the_check_too);
    tcase_add_test(tcase, more_scratch_than_the_device_has_is_refused);
    tcase_add_test(tcase, the_only_kernel_needs_no_name);
    tcase_add_test(tcase, of_several_kernels_one_must_be_named);
    return tcase;
}

int main(void)
{
    char command[64];
    Suite *suite = suite_create("pipeline");
    if (!mkdtemp(temporary))
        return EXIT_FAILURE;
    suite_add_tcase(suite, source_cases());
    suite_add_tcase(suite, compile_cases());
    int result = unit_run(suite);
    snprintf(command, sizeof command, "rm -rf %s", temporary);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
