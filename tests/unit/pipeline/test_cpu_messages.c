/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU backend reads out of a compiler's output. */
#include "backends/cpu/compile/cpu_compiler.h"
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *messages, *sentence;
} examples[] = {
    {"a.c:7:52: error: no member\n    7 |  x\n", "a.c:7: no member"},
    {"a.c: In function 'f':\na.c:3:1: warning: unused\na.c:7:52: error: no member\n", "a.c:7: no member"},
    {"In file included from a.c:1:\nb.h:2:10: fatal error: x.h: No such file\n", "b.h:2: x.h: No such file"},
    {"/usr/bin/ld: /tmp/x.o: in function `f':\na.c:4: "
     "undefined reference to `g'\ncollect2: error: ld returned 1\n",
     "a.c:4: undefined reference to `g'"},
    {"/usr/bin/ld: warning: x\n/usr/bin/ld: cannot find -lfoo: No such file\ncollect2: error: ld returned 1 exit status\n",
     "/usr/bin/ld: cannot find -lfoo: No such file"},
    {"/usr/bin/ld: cannot find -lfoo\nclang: error: linker command failed with exit code 1\n",
     "/usr/bin/ld: cannot find -lfoo"},
    {"collect2: error: ld returned 1 exit status\n", "collect2: error: ld returned 1 exit status"},
    {"cc: error: unrecognized command-line option '-x'\n", "cc: unrecognized command-line option '-x'"},
    {"a.c: In Funktion f:\na.c:7:5: Fehler: nein\n", "a.c:7: Fehler: nein"},
    {"something else\nmore", "something else"},
    {"\n\n only spaces before", "only spaces before"},
    {"", ""},
    {"error: ", ": "},
    {"x:1:2:", "x:1:2:"},
};

START_TEST(the_first_error_becomes_a_sentence)
{
    char sentence[200];
    cpu_first_error(examples[_i].messages, sentence, sizeof sentence);
    ck_assert_str_eq(sentence, examples[_i].sentence);
}
END_TEST

START_TEST(a_long_error_is_cut)
{
    char messages[1000], sentence[50];
    memset(messages, 'x', sizeof messages);
    memcpy(messages, "a.c:1:1: error: ", 16);
    messages[sizeof messages - 1] = '\0';
    cpu_first_error(messages, sentence, sizeof sentence);
    ck_assert_uint_eq(strlen(sentence), sizeof sentence - 1);
}
END_TEST

static void convert(const char *rule, const char *expected)
{
    char folder[] = "/tmp/gyre-test-rule-XXXXXX", from[64], to[64], text[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(from, sizeof from, "%s/rule", folder);
    snprintf(to, sizeof to, "%s/list", folder);
    FILE *file = fopen(from, "w");
    fputs(rule, file);
    fclose(file);
    bool fine = cpu_dependencies_convert(from, to);
    ck_assert(fine == (expected != NULL));
    if (fine) {
        file = fopen(to, "r");
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        ck_assert_str_eq(text, expected);
        unlink(to);
    }
    unlink(from);
    rmdir(folder);
}

START_TEST(a_make_rule_becomes_one_path_a_line)
{
    convert("image: unit.c /usr/include/a.h \\\n /usr/include/b.h\n",
            "unit.c\n/usr/include/a.h\n/usr/include/b.h\n");
    convert("x: a\\ b.h c$$d.h e\\#f.h", "a b.h\nc$d.h\ne#f.h\n");
    convert("no rule", NULL);
    convert("", NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_messages");
    TCase *tcase = tcase_create("cpu_messages");
    tcase_add_loop_test(tcase, the_first_error_becomes_a_sentence, 0,
                        (int)(sizeof examples / sizeof examples[0]));
    tcase_add_test(tcase, a_long_error_is_cut);
    tcase_add_test(tcase, a_make_rule_becomes_one_path_a_line);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
