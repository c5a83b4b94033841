/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the dialect: for each, a kernel that breaks it and where, and what must be said. Every kernel
 * is the same but for one line, so a rule that refused everything would fail the kernels that keep to them.
 */
#include "checker.h"
#include "unit/unit.h"

#include <string.h>

struct case_of_rule {
    const char *helpers, *body; /* `helpers` starts in line 7 */
    unsigned line;              /* of the finding */
    const char *says;           /* part of its text */
};

static const char frame_before[] = "#include <gyre/kernel.h>\n"
                                   "#define REQUEST(FIELD) FIELD(u32, n) FIELD(f32, a[8])\n"
                                   "GYRE_MESSAGE(request_type, REQUEST)\n"
                                   "#define REPLY(FIELD) FIELD(u32, n) FIELD(f32, a[8])\n"
                                   "GYRE_MESSAGE(reply_type, REPLY)\n"
                                   "\n";
static const char frame_kernel[] = "\nGYRE_KERNEL(k, request_type, reply_type)\n{\n    ";
static const char frame_after[] = "\n    return GYRE_REPLY;\n}\n";
enum { HELPERS = 7, BODY = 10 };

static struct checker *judge(const char *text)
{
    struct checker *checker = calloc(1, sizeof *checker);
    ck_assert_ptr_nonnull(checker);
    checker_run(checker, "/nowhere/k.gyre.c", text, strlen(text), GYRE_HEADERS);
    ck_assert_str_eq(checker->report.unable, "");
    return checker;
}

static struct checker *judge_parts(const char *helpers, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s%s", frame_before, helpers ? helpers : "", frame_kernel,
             body ? body : "", frame_after);
    return judge(text);
}

static void show(const struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++)
        fprintf(stderr, "%s %s:%u: %s\n", report->findings[i].kind, report->findings[i].place.file,
                report->findings[i].place.line, report->findings[i].text);
}

static bool has_finding(const struct report *report, const struct case_of_rule *expected)
{
    for (size_t i = 0; i < report->finding_count; i++)
        if (strcmp(report->findings[i].kind, "refuse") == 0 &&
            report->findings[i].place.line == expected->line &&
            strstr(report->findings[i].text, expected->says))
            return true;
    return false;
}

static const struct case_of_rule broken[] = {
    {"GYRE_HELPER u32 f(u32 n) { return n ? f(n - 1) : 0; }", NULL, HELPERS, "recursion: f -> f"},
    {"GYRE_HELPER u32 g(u32 n);\nGYRE_HELPER u32 f(u32 n) { return n ? g(n) : 0; }\n"
     "GYRE_HELPER u32 g(u32 n) { return f(n - 1); }",
     NULL, HELPERS + 2, "recursion: "},
    {NULL, "u32 *p = (u32 *)__builtin_malloc(4); reply->n = p[0];", BODY,
     "call of '__builtin_malloc': allocation"},
    {"void *malloc(__SIZE_TYPE__);", "reply->n = malloc(4) != 0;", BODY, "call of 'malloc': allocation"},
    {"void free(void *);", "free(0);", BODY, "call of 'free': allocation"},
    {"#include <stdlib.h>", NULL, HELPERS, "system header <stdlib.h>"},
    {"#include <stdio.h>", "printf(\"x\");", HELPERS, "system header <stdio.h>"},
    {"#include <stdio.h>", "printf(\"x\");", BODY, "call of 'printf': stdio"},
    {"#include <cuda_runtime.h>", NULL, HELPERS, "vendor header <cuda_runtime.h>"},
    {"#include <CL/not_there.h>", NULL, HELPERS, "vendor header <CL/not_there.h>"},
    {"#include <immintrin.h>", NULL, HELPERS, "vendor header <immintrin.h>"},
    {"#include <pthread.h>", NULL, HELPERS, "lanes and blocks are the threads"},
    {"GYRE_HELPER u32 f(u32 n) { return n; }", "u32 (*p)(u32) = f; reply->n = p(1);", BODY,
     "function pointer: variable 'p'"},
    {"GYRE_HELPER u32 f(u32 n) { return n; }", "\n u32 (*p)(u32);\n p = f;\n reply->n = p(1);", BODY + 2,
     "name is used as a value"},
    {"GYRE_HELPER u32 f(u32 n) { return n; }", "\n u32 (*p)(u32) = f;\n reply->n = p(1);", BODY + 2,
     "call through a function pointer"},
    {"typedef u32 (*operation)(u32);", NULL, HELPERS, "function pointer: type 'operation'"},
    {"struct table { u32 (*f)(u32); };", NULL, HELPERS, "function pointer: member 'f'"},
    {"GYRE_HELPER u32 f(u32 (*p)(u32)) { return p(1); }", NULL, HELPERS, "function pointer: parameter 'p'"},
    {NULL, "f32 v[request->n]; v[0] = 1; reply->a[0] = v[0];", BODY, "variable-length array 'v'"},
    {NULL, "static u32 calls; reply->n = calls++;", BODY, "static variable 'calls'"},
    {"static u32 counter;", "reply->n = counter++;", HELPERS, "global variable 'counter'"},
    {"u32 counter = 3;", NULL, HELPERS, "global variable 'counter'"},
    {"static const u32 table[2] = {1, 2};", NULL, HELPERS, "constant 'table' is not GYRE_CONSTANT"},
    {"_Thread_local u32 mine;", NULL, HELPERS, "thread-local variable 'mine'"},
    {"static u32 f(u32 n) { return n; }", NULL, HELPERS, "function 'f' is not GYRE_HELPER"},
    {"u32 f(u32 n);", "reply->n = f(1);", BODY, "call of 'f'"},
    {"GYRE_HELPER u32 f(u32 n, ...) { return n; }", NULL, HELPERS, "variable number of arguments"},
    {"GYRE_HELPER f32 f(const f32 *x) { return x[0]; }", "reply->a[0] = f(request->a);", BODY, "GYRE_GLOBAL"},
    {"GYRE_HELPER f32 f(const GYRE_GLOBAL f32 *x) { return x[0]; }", "f32 x[2] = {0}; reply->a[0] = f(x);",
     BODY, "GYRE_GLOBAL"},
    {NULL, "const f32 *x = request->a; reply->a[0] = x[0];", BODY, "GYRE_GLOBAL"},
    {NULL, "const u32 *x = (const u32 *)request->a; reply->n = x[0];", BODY,
     "this cast drops or changes GYRE_GLOBAL"},
    {NULL, "return gyre_fail(gyre, -3, \"no\");", BODY, "gyre_fail with the code -3: codes below 0"},
    {"enum { BROKEN = 1 - 2 };", "return gyre_fail(gyre, (i32)BROKEN, \"no\");", BODY, "the code -1"},
    {"#define ODD(FIELD) FIELD(float, a)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS + 1,
     "'float' is no type of a message"},
    {"typedef struct { u32 n; } plain;\nGYRE_ACTOR(a, request_type, reply_type, plain) { return GYRE_NO_REPLY; }",
     NULL, HELPERS + 1, "'plain' is no message"},
    {"#define BARE(FIELD)\nGYRE_MESSAGE(bare, BARE)", NULL, HELPERS + 1, "'bare' has no fields"},
    {"#define BARE(TAKES)\nGYRE_PROTOCOL(bare, BARE)", NULL, HELPERS + 1, "protocol 'bare' has no messages"},
    {"struct bare { };", NULL, HELPERS, "'bare' has no fields"},
    {"struct s { u32 low : 3; };", NULL, HELPERS, "bit-field 'low': OpenCL C has none"},
    {"struct s { u32 n; u32 rest[]; };", NULL, HELPERS, "array 'rest' without a length"},
    {"typedef u32 four __attribute__((vector_size(16)));", NULL, HELPERS, "vector types differ"},
    {NULL, "reply->n = ({ u32 x = request->n; x + 1; });", BODY, "statements as an expression"},
    {"struct pair { u32 a, b; };", "struct pair p = (struct pair){1, 2}; reply->n = p.a;", BODY,
     "compound literal"},
    {"struct pair { u32 a, b; };", "struct pair p = {.b = 1}; reply->n = p.a;", BODY,
     "designated initializer"},
    {NULL, "u32 p[3] = {[1] = 1}; reply->n = p[0];", BODY, "designated initializer"},
    {"GYRE_CONSTANT u32 table[2] = {[1] = 1};", NULL, HELPERS, "designated initializer"},
    {"GYRE_KERNAL(other, request_type, reply_type) { return GYRE_REPLY; }", NULL, HELPERS,
     "there is no 'GYRE_KERNAL' here"},
    {"static GYRE_CONSTANT u32 table[1] = {1};", NULL, HELPERS, "GYRE_CONSTANT is static already"},
    {NULL, "reply->n = state->n;", BODY, "no 'state': kernels declared with GYRE_KERNEL_WITH"},
    {NULL, "scratch->n = 1;", BODY, "no 'scratch': kernels declared with GYRE_BLOCK_KERNEL"},
    {NULL, "__asm__(\"nop\");", BODY, "assembler"},
    {"__asm__(\".globl x\");", NULL, HELPERS, "assembler"},
    {NULL, "void *x = &&there; goto *x; there:;", BODY, "computed goto"},
    {NULL, "u32 local = request->n; reply->n = local;", BODY, "the name 'local' is a keyword in OpenCL C"},
    {NULL, "u32 new = request->n; reply->n = new;", BODY, "the name 'new' is a keyword in C++"},
    {"GYRE_HELPER u32 template(u32 n) { return n; }", "reply->n = template(1);", HELPERS,
     "the name 'template'"},
    {"GYRE_HELPER u32 f(u32 float4) { return float4; }", "reply->n = f(1);", HELPERS,
     "'float4' is a type in OpenCL C"},
    {"struct s { u32 global; };", NULL, HELPERS, "the name 'global'"},
    {NULL, "switch (request->n) {\n case 1:;\n u32 x = 3;\n reply->n = x; break;\n case 2: break; }",
     BODY + 4, "this case jumps over the value of 'x'"},
    {"int setjmp(int *);", "int b[9]; setjmp(b);", BODY, "call of 'setjmp'"},
    {"void exit(int);", "exit(1);", BODY, "call of 'exit'"},
    {NULL, "f32 x[8]; memcpy(x, x, sizeof x); reply->a[0] = x[0];", BODY, "call of 'memcpy': assign structs"},
    {NULL, "reply->n = (u32)__builtin_popcount(request->n);", BODY, "gyre_popcount_u32"},
    {NULL, "reply->a[0] = expm1f(request->a[0]);", BODY, "call of 'expm1f'"},
    {NULL, "long double x = 1; reply->a[0] = (f32)x;", BODY, "long double"},
    {NULL, "__int128 x = 1; reply->n = (u32)x;", BODY, "128-bit"},
    {NULL, "_Atomic u32 x = 1; reply->n = x;", BODY, "_Atomic"},
    {"GYRE_KERNEL(k, request_type, reply_type) { return GYRE_NO_REPLY; }", NULL, BODY - 2,
     "two kernels are named 'k', the other one in line 7"},
};

START_TEST(each_rule_refuses_with_its_line_and_reason)
{
    const struct case_of_rule *expected = &broken[_i];
    struct checker *checker = judge_parts(expected->helpers, expected->body);
    bool found = has_finding(&checker->report, expected);
    if (!found)
        show(&checker->report);
    ck_assert_msg(found, "expected in line %u: %s", expected->line, expected->says);
    free(checker);
}
END_TEST

static const struct case_of_rule kept[] = {
    {NULL, "reply->n = request->n;", 0, ""},
    {"GYRE_HELPER u32 f(u32 n) { return n + 1; }\nGYRE_HELPER u32 g(u32 n) { return f(f(n)); }",
     "reply->n = g(f(request->n));", 0, ""},
    {"GYRE_CONSTANT u32 table[2][2] = {{1, 2}, {3, 4}};\nGYRE_CONSTANT f32 one = 1;",
     "reply->n = table[1][request->n & 1]; reply->a[0] = one;", 0, ""},
    {"#define TABLE(name) GYRE_CONSTANT u32 name[1] = {1};\nTABLE(table)", "reply->n = table[0];", 0, ""},
    {"#define FUNCTION(name) GYRE_HELPER u32 name(u32 n) { return n; }\nFUNCTION(f)", "reply->n = f(1);", 0,
     ""},
    {"GYRE_HELPER f32 f(const GYRE_GLOBAL f32 *x, u32 n)\n{ f32 s = 0; for (u32 i = 0; i < n; i++) s += "
     "x[i]; return s; }",
     "reply->a[0] = f(request->a, 8) + sqrtf(2) + fmaf(1, 2, 3) + (f32)pow(2.0, 3.0);", 0, ""},
    {NULL, "const GYRE_GLOBAL u32 *x = (const GYRE_GLOBAL u32 *)request->a; reply->n = x[0];", 0, ""},
    {NULL,
     "gyre_log(gyre, \"n\", request->n); if (!gyre_assert(gyre, request->n)) return gyre_fail(gyre, 1, "
     "\"no\");",
     0, ""},
    {NULL, "if (request->n > 7) return gyre_fail(gyre, (i32)request->n, \"no\"); gyre_fail(gyre, 0, \"no\");",
     0, ""},
    {NULL, "u64 t = gyre_time_ns(gyre); reply->n = (u32)t + gyre_lane(gyre) + gyre_popcount_u32(request->n);",
     0, ""},
    {"#define STATE(FIELD) FIELD(u32, n)\nGYRE_MESSAGE(state_type, STATE)\n"
     "#define BUFFERS(IN, INOUT) IN(f32, w) INOUT(u32, h)\nGYRE_BUFFERS(buffer_type, BUFFERS)\n"
     "GYRE_KERNEL_WITH(b, request_type, reply_type, state_type, buffer_type)\n"
     "{ gyre_atomic_add(&state->n, 1u); gyre_atomic_max(&buffers->h[0], 3u); reply->a[0] = buffers->w[0]; "
     "return "
     "GYRE_REPLY; }",
     NULL, 0, ""},
    {"#define SCRATCH(FIELD) FIELD(f32, s[64])\nGYRE_MESSAGE(scratch_type, SCRATCH)\n#define MEET "
     "gyre_barrier(gyre)\n"
     "GYRE_BLOCK_KERNEL(b, request_type, reply_type, scratch_type)\n"
     "{ scratch->s[gyre_lane(gyre)] = request->a[0]; MEET; gyre_barrier(gyre);\n"
     "  reply->a[0] = gyre_block_sum_f32(gyre, scratch->s[0]); return GYRE_REPLY; }",
     NULL, 0, ""},
    {NULL,
     "u32 i = 0; again: if (i++ < 3) goto again; do { i--; } while (i);\n"
     "switch (request->n) { case 1: i = 2; break; default: break; } reply->n = i;",
     0, ""},
    {NULL,
     "switch (request->n) { case 1: { u32 x = 3; reply->n = x; break; } case 2:; u32 y; y = 1; reply->n = "
     "y;\n"
     "break; default: break; }",
     0, ""},
    {NULL, "u32 news = 1, locally = 2, float5 = 3, intl = 4; reply->n = news + locally + float5 + intl;", 0,
     ""},
    {"typedef struct pair { u32 a, b; } pair;\nenum { SIZE = 3 };\nGYRE_HELPER pair swap(pair p)\n"
     "{ pair q = {p.b, p.a}; return q; }",
     "pair p = {1, SIZE}; reply->n = swap(p).a;", 0, ""},
};

START_TEST(what_keeps_to_the_rules_passes)
{
    struct checker *checker = judge_parts(kept[_i].helpers, kept[_i].body);
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 0);
    ck_assert_uint_ge(checker->report.kernel_count, 1);
    free(checker);
}
END_TEST

START_TEST(kernels_are_listed_with_their_lines)
{
    struct checker *checker =
        judge_parts("GYRE_KERNEL(other, request_type, reply_type) { return GYRE_NO_REPLY; }", NULL);
    ck_assert_uint_eq(checker->report.kernel_count, 2);
    ck_assert_str_eq(checker->report.kernels[0].name, "other");
    ck_assert_uint_eq(checker->report.kernels[0].line, HELPERS);
    ck_assert_str_eq(checker->report.kernels[1].name, "k");
    free(checker);
}
END_TEST

START_TEST(a_file_without_kernels_is_refused)
{
    struct checker *checker = judge("#include <gyre/kernel.h>\n");
    struct case_of_rule expected = {.line = 1, .says = "no kernel in it"};
    ck_assert(has_finding(&checker->report, &expected));
    ck_assert_str_eq(checker->report.findings[0].stage, "discover");
    free(checker);
}
END_TEST

START_TEST(names_behind_a_broken_macro_are_not_what_is_told)
{
    struct checker *checker =
        judge_parts("GYRE_MESSAGE(odd)\n#define ODDS(FIELD) FIELD(odd, one)\nGYRE_MESSAGE(odds, ODDS)", NULL);
    for (size_t i = 0; i < checker->report.finding_count; i++)
        ck_assert_str_eq(checker->report.findings[i].kind, "error");
    ck_assert(report_has_errors(&checker->report));
    ck_assert(strstr(checker->report.findings[0].text, "macro invocation"));
    free(checker);
}
END_TEST

START_TEST(a_plain_error_is_passed_on_as_the_parsers)
{
    struct checker *checker = judge_parts(NULL, "reply->n = request->missing;");
    ck_assert_uint_eq(checker->report.finding_count, 1);
    ck_assert_str_eq(checker->report.findings[0].kind, "error");
    ck_assert_uint_eq(checker->report.findings[0].place.line, BODY);
    free(checker);
}
END_TEST

START_TEST(the_report_has_one_line_each_and_ends_with_done)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct checker *checker = judge_parts("static u32 a\t;\nstatic u32 b;", NULL);
    report_write(&checker->report, out);
    fclose(out);
    ck_assert_ptr_eq(strstr(text, "kernel\tk\t9\n"), text);
    ck_assert_ptr_nonnull(strstr(text, "refuse\tcheck\t/nowhere/k.gyre.c\t7\t12\tglobal variable 'a'"));
    ck_assert_ptr_nonnull(strstr(text, "refuse\tcheck\t/nowhere/k.gyre.c\t8\t12\tglobal variable 'b'"));
    ck_assert_str_eq(text + size - 5, "done\n");
    free(text);
    free(checker);
}
END_TEST

START_TEST(without_the_dialects_headers_it_says_what_is_missing)
{
    static struct checker checker;
    const char text[] = "#include <gyre/kernel.h>\n";
    checker_run(&checker, "/nowhere/k.gyre.c", text, sizeof text - 1, "/nowhere");
    ck_assert_uint_eq(checker.report.finding_count, 1);
    ck_assert_str_eq(checker.report.findings[0].text, "'gyre/kernel.h' file not found");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *tcase = tcase_create("check");
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, each_rule_refuses_with_its_line_and_reason, 0,
                        (int)(sizeof broken / sizeof broken[0]));
    tcase_add_loop_test(tcase, what_keeps_to_the_rules_passes, 0, (int)(sizeof kept / sizeof kept[0]));
    tcase_add_test(tcase, kernels_are_listed_with_their_lines);
    tcase_add_test(tcase, a_file_without_kernels_is_refused);
    tcase_add_test(tcase, names_behind_a_broken_macro_are_not_what_is_told);
    tcase_add_test(tcase, a_plain_error_is_passed_on_as_the_parsers);
    tcase_add_test(tcase, the_report_has_one_line_each_and_ends_with_done);
    tcase_add_test(tcase, without_the_dialects_headers_it_says_what_is_missing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
