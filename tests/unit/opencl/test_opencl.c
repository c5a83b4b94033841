/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL backend without a device: one text of a unit, what compilers say, compiled files, settings. */
#include "unit/unit.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/opencl/compile/opencl_artifact.h"
#include "backends/opencl/platforms/opencl_loader.h"
#include "backends/opencl/opencl_settings.h"
#include "backends/opencl/compile/opencl_source.h"

static char said[1024]; /* the last sentence */

__attribute__((format(printf, 2, 3))) static gyre_status keep_error(gyre_status status, const char *format,
                                                                    ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return status;
}

static const gyre_host host = {.size = sizeof host, .error = keep_error};

static char folder[] = "/tmp/gyre-opencl-XXXXXX";

static void write_file(const char *name, const char *text, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* ---- one text ---- */

static char *flatten(const char *unit)
{
    char path[PATH_MAX], list[PATH_MAX];
    const char *folders[] = {folder, GYRE_INCLUDE, NULL};
    write_file("unit.c", unit, path);
    write_file("list", "", list);
    char *text = opencl_source_flatten(path, folders, list);
    ck_assert_ptr_nonnull(text);
    return text;
}

START_TEST(headers_come_into_the_text_behind_their_names)
{
    char path[PATH_MAX], list[256] = "";
    write_file("a.h", "#include \"b.h\"\nint a;\n", path);
    write_file("b.h", "#include \"a.h\"\nint b;\n", path); /* which is open already */
    char *text = flatten("#line 1 \"/user/x.gyre.c\"\n#include <a.h>\nint x;\n#include <nowhere.h>\n");
    const char *b = strstr(text, "int b;"), *a = strstr(text, "int a;"), *x = strstr(text, "int x;");
    ck_assert(b && a && x && b < a && a < x);
    ck_assert_ptr_nonnull(strstr(text, "#line 2 \"/user/x.gyre.c\"\nint x;"));
    ck_assert_ptr_nonnull(strstr(text, "#include <nowhere.h>"));
    ck_assert_ptr_null(strstr(b + 6, "int b;"));
    snprintf(path, sizeof path, "%s/list", folder);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(list, sizeof list, file));
    ck_assert_ptr_nonnull(strstr(list, "/a.h\n"));
    fclose(file);
    free(text);
}
END_TEST

START_TEST(comments_include_nothing)
{
    char path[PATH_MAX];
    write_file("c.h", "int c; */\n", path);
    char *text = flatten("/*\n#include \"c.h\"\n*/\nconst char *s = \"/*\";\n#include \"c.h\"\n");
    const char *first = strstr(text, "int c;");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "int c;"));
    free(text);
}
END_TEST

/* Of what the preprocessor makes of a text, in words without blanks. */
static void expect_words(const char *text, const char *expected)
{
    char command[PATH_MAX + 128], path[PATH_MAX], words[256] = "";
    write_file("text.c", text, path);
    snprintf(command, sizeof command, "cc -E -P -Wall -Werror %s | tr -d ' \\n'", path);
    FILE *out = popen(command, "re");
    ck_assert_ptr_nonnull(out);
    words[fread(words, 1, sizeof words - 1, out)] = '\0';
    pclose(out);
    ck_assert_str_eq(words, expected);
}

START_TEST(a_header_that_says_once_comes_in_once)
{
    char path[PATH_MAX];
    write_file("o.h", "# pragma once /* more\nthan a line */\nint o;\n", path);
    write_file("p.h", "#include \"o.h\"\n/*\n#pragma once\n*/\nint p;\n", path);
    char *text =
        flatten("#pragma once\n#if 0\n#include \"o.h\"\n#endif\n#include \"o.h\"\n#include \"./o.h\"\n"
                "#include \"p.h\"\n#include \"p.h\"\n");
    ck_assert_ptr_nonnull(strstr(text, "/o.h\"\n#define GYRE_ONCE_")); /* the first line, as in the file */
    expect_words(text, "into;intp;intp;");
    free(text);
}
END_TEST

START_TEST(other_dialects_stay_out)
{
    const char *folders[] = {GYRE_INCLUDE, NULL};
    char path[PATH_MAX];
    write_file("unit.c", "#include <gyre/kernel.h>\n", path);
    char *text = opencl_source_flatten(path, folders, NULL);
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(strstr(text, "#include \"gyre/dialect/c11.h\""));
    ck_assert_ptr_nonnull(strstr(text, "gyre_epochs_settle_"));
    ck_assert_ptr_null(strstr(text, "#include \"gyre/dialect/opencl.h\""));
    free(text);
}
END_TEST

START_TEST(a_header_that_tells_no_size_comes_into_the_text)
{
    char *text = flatten("#include \"/proc/version\"\n");
    ck_assert_ptr_nonnull(strstr(text, "Linux version "));
    free(text);
}
END_TEST

START_TEST(a_unit_that_is_not_there_is_no_text)
{
    ck_assert_ptr_null(opencl_source_flatten("/nowhere/unit.c", NULL, NULL));
}
END_TEST

/* ---- what compilers say ---- */

static const char *first_error(const char *log)
{
    static const char source[] =
        "#define X\n#line 1 \"/user/h.h\"\nint a;\nint b;\n#line 7 \"/user/x.c\"\nbad\n";
    static char sentence[256];
    opencl_first_error(source, log, sentence, sizeof sentence);
    return sentence;
}

START_TEST(each_compilers_first_error_is_found)
{
    ck_assert_str_eq(first_error("note\nerror: /user/x.c:7:39: use of 'y'\nerror: /user/x.c:9:1: z\n"),
                     "/user/x.c:7: use of 'y'");
    ck_assert_str_eq(first_error("error: /user/x.c:8:1 <Spelling=/g/m.h:53:32>: no static\n"),
                     "/user/x.c:8: no static");
    ck_assert_str_eq(first_error("/a b/x.c:12:3: error: expected ';'\n"), "/a b/x.c:12: expected ';'");
    ck_assert_str_eq(first_error("ptxas error   : too much shared data\n"),
                     "ptxas error   : too much shared data");
    ck_assert_str_eq(first_error("warning: f\nError(s) while linking: \nCannot find symbol f\n"),
                     "Error(s) while linking: Cannot find symbol f");
    ck_assert_str_eq(first_error("Error:"), "Error:");
    ck_assert_str_eq(first_error("all is well\n"), "");
}
END_TEST

START_TEST(lines_of_the_whole_text_become_the_users)
{
    ck_assert_str_eq(first_error("<kernel>:6:5: error: unknown type 'bad'\n"),
                     "/user/x.c:7: unknown type 'bad'");
    ck_assert_str_eq(first_error("<kernel>:4:5: error: in b\n"), "/user/h.h:2: in b");
    ck_assert_str_eq(first_error("<kernel>:600:5: error: beyond\n"), "<kernel>:600: beyond");
}
END_TEST

/* ---- compiled files ---- */

static size_t make_artifact(unsigned char *bytes, size_t room)
{
    char path[PATH_MAX];
    const struct opencl_artifact artifact = {{{"-O", 3}, {"source", 7}, {"items", 5}, {"binary!", 7}}};
    write_file("kernel", "", path);
    ck_assert_int_eq(opencl_artifact_write(&host, path, &artifact), GYRE_OK);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

START_TEST(a_compiled_file_comes_back_in_its_parts)
{
    unsigned char bytes[512];
    struct opencl_artifact found;
    const size_t size = make_artifact(bytes, sizeof bytes);
    ck_assert_int_eq(opencl_artifact_read(&host, "kernel", bytes, size, &found), GYRE_OK);
    ck_assert_str_eq(found.parts[OPENCL_PART_SOURCE].bytes, "source");
    ck_assert_uint_eq(found.parts[OPENCL_PART_BINARY].size, 7);
    ck_assert_int_eq(memcmp(found.parts[OPENCL_PART_BINARY].bytes, "binary!", 7), 0);
}
END_TEST

/* Whatever is cut or changed in the head: a sentence, or parts that lie inside. */
START_TEST(a_damaged_file_is_refused)
{
    unsigned char bytes[512], damaged[512];
    struct opencl_artifact found;
    const size_t size = make_artifact(bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++)
        ck_assert_int_eq(opencl_artifact_read(&host, "kernel", bytes, cut, &found), GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(said, "compile it again"));
    for (size_t at = 0; at < 48 && at < size; at++) {
        memcpy(damaged, bytes, size);
        damaged[at] ^= 0x80;
        if (opencl_artifact_read(&host, "kernel", damaged, size, &found) != GYRE_OK)
            continue;
        for (int i = 0; i < OPENCL_PARTS; i++)
            ck_assert((const unsigned char *)found.parts[i].bytes + found.parts[i].size <= damaged + size);
    }
}
END_TEST

/* ---- settings ---- */

static gyre_status read_setting(const char *key, const char *value, struct opencl_settings *settings)
{
    const gyre_parameter parameter = {key, value, "gyre.ini:3"};
    said[0] = '\0';
    return opencl_settings_read(&host, &parameter, 1, settings);
}

START_TEST(settings_have_ranges)
{
    static const char *const wrong[][2] = {{"platform", ""},     {"type", "tpu"},         {"index", "-1"},
                                           {"transfer", "fast"}, {"batch", "0"},          {"epochs", "9"},
                                           {"target_us", ""},    {"profile", "maybe"},    {"mode", "both"},
                                           {"pin", "1x"},        {"optimize_blocks", "2"}};
    struct opencl_settings settings;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(read_setting(wrong[i][0], wrong[i][1], &settings), GYRE_CONFIG);
        ck_assert_ptr_nonnull(strstr(said, "gyre.ini:3: backend.opencl "));
        ck_assert_ptr_nonnull(strstr(said, wrong[i][0]));
    }
    ck_assert_int_eq(read_setting("index", "all", &settings), GYRE_OK);
    ck_assert_int_eq(settings.index, -1);
    ck_assert_int_eq(read_setting("mode", "resident", &settings), GYRE_OK);
    ck_assert(settings.stay && settings.epochs == 4);
    ck_assert_int_eq(read_setting("isolation", "process", &settings), GYRE_OK); /* the core's */
}
END_TEST

START_TEST(words_of_settings_are_told_apart)
{
    struct opencl_settings settings;
    ck_assert_int_eq(read_setting("transfer", "staged", &settings), GYRE_OK);
    ck_assert_int_eq(settings.transfer, OPENCL_TRANSFER_STAGED);
    ck_assert(settings.pin == OPENCL_AUTO && !settings.stay);
    ck_assert_int_eq(read_setting("pin", "no", &settings), GYRE_OK);
    ck_assert(settings.pin == OPENCL_NO && settings.optimize_blocks == OPENCL_AUTO);
    ck_assert_int_eq(read_setting("optimize_blocks", "auto", &settings), GYRE_OK);
    ck_assert_int_eq(settings.optimize_blocks, OPENCL_AUTO);
    ck_assert_int_eq(read_setting("profile", "yes", &settings), GYRE_OK);
    ck_assert(settings.profile == 1 && settings.transfer == OPENCL_TRANSFER_AUTO);
    ck_assert_int_eq(read_setting("mode", "epochs", &settings), GYRE_OK);
    ck_assert_uint_eq(settings.stay, 0);
    ck_assert_int_eq(read_setting("epochs", "8", &settings), GYRE_OK);
    ck_assert_uint_eq(settings.epochs, OPENCL_EPOCHS_MAX);
}
END_TEST

/* ---- a loader that has every function ---- */

static gyre_status open_any_library(const char *path, void **out)
{
    (void)path;
    *out = folder;
    return GYRE_OK;
}

static gyre_status find_any_symbol(void *library, const char *name, void **out)
{
    (void)name;
    *out = library;
    return GYRE_OK;
}

static gyre_status open_without_memory(const char *path, void **out)
{
    (void)path;
    *out = NULL;
    return GYRE_EXHAUSTED;
}

START_TEST(no_memory_for_the_loader_is_not_its_absence)
{
    const gyre_host without_memory = {.size = sizeof without_memory,
                                      .error = keep_error,
                                      .library_open = open_without_memory,
                                      .library_symbol = find_any_symbol};
    const struct opencl_loader *loader;
    ck_assert_int_eq(opencl_loader_open(&without_memory, &loader), GYRE_EXHAUSTED);
    ck_assert_ptr_null(loader);
}
END_TEST

START_TEST(a_forked_child_of_who_uses_it_is_told_so)
{
    const gyre_host with_loader = {.size = sizeof with_loader,
                                   .error = keep_error,
                                   .library_open = open_any_library,
                                   .library_symbol = find_any_symbol};
    const struct opencl_loader *loader;
    int state;
    ck_assert_int_eq(opencl_loader_open(&with_loader, &loader), GYRE_OK);
    const pid_t child = fork();
    if (child == 0)
        _exit(opencl_loader_open(&with_loader, &loader) != GYRE_UNAVAILABLE || !strstr(said, "was forked"));
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    ck_assert_int_eq(opencl_loader_open(&with_loader, &loader), GYRE_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl");
    TCase *cases = tcase_create("without a device");
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    tcase_add_test(cases, headers_come_into_the_text_behind_their_names);
    tcase_add_test(cases, comments_include_nothing);
    tcase_add_test(cases, a_header_that_says_once_comes_in_once);
    tcase_add_test(cases, other_dialects_stay_out);
    tcase_add_test(cases, a_header_that_tells_no_size_comes_into_the_text);
    tcase_add_test(cases, a_unit_that_is_not_there_is_no_text);
    tcase_add_test(cases, each_compilers_first_error_is_found);
    tcase_add_test(cases, lines_of_the_whole_text_become_the_users);
    tcase_add_test(cases, a_compiled_file_comes_back_in_its_parts);
    tcase_add_test(cases, a_damaged_file_is_refused);
    tcase_add_test(cases, settings_have_ranges);
    tcase_add_test(cases, words_of_settings_are_told_apart);
    tcase_add_test(cases, no_memory_for_the_loader_is_not_its_absence);
    tcase_add_test(cases, a_forked_child_of_who_uses_it_is_told_so);
    suite_add_tcase(suite, cases);
    const int result = unit_run(suite);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
