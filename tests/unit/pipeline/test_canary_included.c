/* SPDX-License-Identifier: Apache-2.0 */
/* Which pairs of files a canary refuses, because a macro would mean another thing for one of them (core/pipeline/canary_included.c). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/pipeline/canary_included.h"
#include "unit/unit.h"

#define CLIP                                                                                                 \
    "#ifndef CLIP_H\n#define CLIP_H\nstatic int clip(int x) { return x > LIMIT ? LIMIT : x; }\n#endif\n"
#define FEES "#ifndef FEES_H\n#define FEES_H\n#define FEE 19\n#endif\n"
#define LIST "#define LIST(FIELD) FIELD(u64, x)\n"

/* The files a.h and b.h beside the old file, and beside the new one; NULL: the same as beside the old one. */
static const struct {
    const char *old_text, *new_text, *a, *b, *new_a;
    const char *named; /* in the sentence; NULL: the pair is fine */
} rows[] = {
    {"#include \"a.h\"\n", "#include \"a.h\"\n", FEES, "", NULL, NULL},
    {"#include \"a.h\"\n", "#include \"a.h\"\n", FEES, "", "#define FEE 7\n", "is another text"},
    /* what both include behind another #define; the same #define is fine, and one behind the last #include */
    {"#define LIMIT 100\n#include \"a.h\"\n", "#define LIMIT 200\n#include \"a.h\"\n", CLIP, "", NULL,
     "'LIMIT'"},
    {"#define LIMIT 100\n#include \"a.h\"\n", "#define LIMIT 100\n#include \"a.h\"\nint x;\n", CLIP, "", NULL,
     NULL},
    {"#include \"a.h\"\n#define LIMIT 100\n", "#include \"a.h\"\n#define LIMIT 200\n", LIST, "", NULL, NULL},
    {"#include \"b.h\"\n#include \"a.h\"\n", "#define LIMIT 200\n#include \"a.h\"\n", CLIP,
     "#define LIMIT 100\n", NULL, "'LIMIT'"},
    /* what the new file tests, defines or names, of the old one's headers */
    {"#include \"a.h\"\n", "#ifndef FEE\n#define FEE 7\n#endif\n", FEES, "", NULL, "'FEE'"},
    {"#include \"a.h\"\n", "#if defined FEE\n#endif\n#include \"a.h\"\n", FEES, "", NULL, "'FEE'"},
    {"#include \"a.h\"\n", "static int FEE(void);\n", FEES, "", NULL, "'FEE'"},
    {"#include \"a.h\"\n", "#include \"b.h\"\n", FEES, "#ifdef FEE\n#endif\n", NULL, "'FEE'"},
    {"#include \"a.h\"\n", "#include \"a.h\"\nint x = FEE;\n", FEES, "", NULL, NULL},
    {"#include \"a.h\"\n#undef FEE\n", "#include \"a.h\"\nint x = FEE;\n", FEES, "", NULL, "'FEE'"},
    /* what lies behind a header, the order of two, and a header that nobody knows */
    {"#include \"b.h\"\n", "#ifdef FEE\n#endif\n", FEES, "#include \"a.h\"\n", NULL, "'FEE'"},
    {"#include \"a.h\"\n#include \"b.h\"\n", "#include \"b.h\"\n#include \"a.h\"\n", FEES,
     "#ifdef FEE\n#endif\n", NULL, "'FEE'"},
    {"#include <gyre/kernel.h>\n", "#include <gyre/kernel.h>\n", "", "", NULL, NULL},
    {"#include <nowhere.h>\n", "int x;\n", "", "", NULL, "'nowhere.h'"},
    {"/* */ # /* */ include /* */ \"a.h\"\n", "#ifndef FEE\n#endif\n", FEES, "", NULL, "'FEE'"},
};

static void put(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

START_TEST(a_pair_is_taken_or_refused)
{
    char folder[] = "/tmp/gyre-canary-XXXXXX", was[PATH_MAX], is[PATH_MAX], was_file[PATH_MAX + 8],
         is_file[PATH_MAX + 8];
    ck_assert(mkdtemp(folder) && realpath(folder, was));
    snprintf(is, sizeof is, "%.4000s/new", was);
    snprintf(was_file, sizeof was_file, "%s/k.c", was);
    snprintf(is_file, sizeof is_file, "%s/k.c", is);
    ck_assert(mkdir(is, 0700) == 0);
    put(was, "a.h", rows[_i].a);
    put(was, "b.h", rows[_i].b);
    put(is, "a.h", rows[_i].new_a ? rows[_i].new_a : rows[_i].a);
    put(is, "b.h", rows[_i].b);
    struct gyre_canary_text *old_words =
        gyre_canary_text_create(rows[_i].old_text, strlen(rows[_i].old_text));
    struct gyre_canary_text *new_words =
        gyre_canary_text_create(rows[_i].new_text, strlen(rows[_i].new_text));
    const struct gyre_canary_pair pair = {was_file, was, rows[_i].old_text, old_words,
                                          is_file,  is,  rows[_i].new_text, new_words};
    const gyre_status status = gyre_canary_check_included(&pair);
    if (rows[_i].named)
        ck_assert_msg(status == GYRE_INCOMPATIBLE && strstr(gyre_error_text(), rows[_i].named), "row %d: %s",
                      _i, status == GYRE_OK ? "taken" : gyre_error_text());
    else
        ck_assert_msg(status == GYRE_OK, "row %d: %s", _i, gyre_error_text());
    gyre_canary_text_destroy(old_words);
    gyre_canary_text_destroy(new_words);
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX + 8];
        snprintf(path, sizeof path, "%s/a.h", i ? was : is);
        remove(path);
        snprintf(path, sizeof path, "%s/b.h", i ? was : is);
        remove(path);
        ck_assert(remove(i ? was : is) == 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("canary_included");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_pair_is_taken_or_refused, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
