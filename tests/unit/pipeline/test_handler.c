/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler is known by: which changes of its files and options make it another one, and which do not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/pipeline/handler.h"
#include "core/pipeline/pipeline.h"
#include "unit/unit.h"

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static uint64_t hash_of(const char *text, const char *options)
{
    char path[128];
    struct gyre_source source;
    write_file("sum.gyre.c", text);
    snprintf(path, sizeof path, "%s/sum.gyre.c", folder);
    ck_assert_int_eq(gyre_source_read(path, &source), GYRE_OK);
    const uint64_t hash = gyre_handler_hash(&source, gyre_build_headers(), options);
    gyre_source_finish(&source);
    ck_assert_uint_ne(hash, 0);
    return hash;
}

static void begin(void)
{
    char path[96];
    snprintf(folder, sizeof folder, "/tmp/gyre-handler-XXXXXX");
    ck_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/more", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_file("sum.h", "#define SUM(FIELD) FIELD(u64, add)\n");
    write_file("more/scale.h", "#define SCALE 1\n");
}

static void end(void)
{
    static const char *const names[] = {"sum.gyre.c", "sum.h", "more/scale.h", "more", ""};
    char path[96];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

#define FRONT "#include <gyre/kernel.h>\n#include \"sum.h\"\n#include <scale.h>\n#define TWICE(x) ((x) * 2)\n"
#define BACK                                                                                                 \
    "{\n    state->sum += request->add;\n    return gyre_fail(gyre, 1, \"too /* much */ here\");\n}\n"
#define KNOWN FRONT "GYRE_ACTOR(sum, add, reply, sum_state)\n" BACK

static const struct {
    const char *text, *options;
    bool same;
} edits[] = {
    {"/* new */" KNOWN "// and more\n", "", true},
    {FRONT "GYRE_ACTOR( sum,add,\n  reply,  sum_state )\n\n{ state->sum+=request->add; /* one */\n"
           "return gyre_fail(gyre,1,\"too /* much */ here\"); }",
     "", true},
    {FRONT "GYRE_ACTOR(sum, add, re\\\nply, sum_state)\n" BACK, "", true},
    {KNOWN, "-O3 -DGYRE_TIMED=1", true},
    {FRONT "GYRE_ACTOR(sum, add, reply, sum_state)\n"
           "{ state->sum += 1000 * request->add; return gyre_fail(gyre, 1, \"too /* much */ here\"); }",
     "", false},
    {FRONT "GYRE_ACTOR(sum, add, reply, sum_state)\n"
           "{ state->sum += request->add; return gyre_fail(gyre, 1, \"too /* many */ here\"); }",
     "", false},
    {"#include <gyre/kernel.h>\n#include \"sum.h\"\n#include <scale.h>\n#define TWICE (x) ((x) * 2)\n"
     "GYRE_ACTOR(sum, add, reply, sum_state)\n" BACK,
     "", false},
    {FRONT "#define MORE\nGYRE_ACTOR(sum, add, reply, sum_state)\n" BACK, "", false},
    {KNOWN, "-DSCALE=2", false},
    {KNOWN, "-D SCALE=2", false},
    {KNOWN, "-USCALE", false},
};

START_TEST(what_changes_a_handler_makes_it_another_one)
{
    char options[128], with[256];
    snprintf(options, sizeof options, "-I%s/more", folder);
    snprintf(with, sizeof with, "%s -I %s/more %s", edits[_i].options, folder, edits[_i].options);
    const uint64_t known = hash_of(KNOWN, options);
    ck_assert((hash_of(edits[_i].text, with) == known) == edits[_i].same);
}
END_TEST

/* Also one that is found through -I alone; where the files are is no part of it. */
START_TEST(what_it_includes_is_a_part_of_it)
{
    char options[96], moved[64];
    snprintf(options, sizeof options, "-I%s/more", folder);
    const uint64_t known = hash_of(KNOWN, options);
    write_file("sum.h", "/* as before */\n#define SUM(FIELD) FIELD(u64, add)\n");
    ck_assert_uint_eq(hash_of(KNOWN, options), known);
    write_file("more/scale.h", "#define SCALE 2\n");
    ck_assert_uint_ne(hash_of(KNOWN, options), known);
    write_file("more/scale.h", "#define SCALE 1\n");
    write_file("sum.h", "#define SUM(FIELD) FIELD(u64, add) FIELD(u64, more)\n");
    ck_assert_uint_ne(hash_of(KNOWN, options), known);
    write_file("sum.h", "#define SUM(FIELD) FIELD(u64, add)\n");
    snprintf(moved, sizeof moved, "%s-moved", folder);
    ck_assert_int_eq(rename(folder, moved), 0);
    memcpy(folder, moved, sizeof folder);
    snprintf(options, sizeof options, "-I%s/more", folder);
    ck_assert_uint_eq(hash_of(KNOWN, options), known);
}
END_TEST

/* In circles, and never to its end: some hash comes of it. */
START_TEST(a_file_that_includes_itself_is_read_once)
{
    write_file("sum.h", "#include \"sum.h\"\n#include \"sum.gyre.c\"\n#include \"no such file\"\n/* open");
    ck_assert_uint_eq(hash_of(KNOWN, ""), hash_of(KNOWN, ""));
    hash_of("\"", "-I");
    hash_of("'\\", "-D");
    hash_of("/*", "-I -D -U");
    hash_of("#", "");
    hash_of("#include", "");
    hash_of("#include \"", "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handler");
    TCase *tcase = tcase_create("handler");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, what_changes_a_handler_makes_it_another_one, 0,
                        (int)(sizeof edits / sizeof edits[0]));
    tcase_add_test(tcase, what_it_includes_is_a_part_of_it);
    tcase_add_test(tcase, a_file_that_includes_itself_is_read_once);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
