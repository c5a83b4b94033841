/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of the mistakes of a first day: handlers and lists that there are not, parts that are taken for numbers, arrays or
 * strings, and writes where nothing can be written.
 */
#include "frame.h"

/* A protocol of two types; its kernel stands in line HELPERS + 6. */
#define DESK                                                                                                      \
    "#define ASK(FIELD) FIELD(u64, n)\nGYRE_MESSAGE(ask, ASK)\nGYRE_MESSAGE(keep, ASK)\nGYRE_MESSAGE(say, ASK)\n" \
    "#define DESK(TAKES) TAKES(ask, say) TAKES(keep, say)\nGYRE_PROTOCOL(desk, DESK)\n"
#define DESK_ACTOR DESK "GYRE_ACTOR_OF(desk, DESK, ask)\n"
#define DESK_ASK   "GYRE_HANDLER(desk, ask, say) { reply->n = 1; return GYRE_REPLY; }\n"
#define DESK_KEEP  "GYRE_HANDLER(desk, keep, say) { reply->n = 1; return GYRE_REPLY; }\n"

/* A kernel whose messages have parts; its body stands in line HELPERS + 2. */
#define TEXT(body)                                                                                           \
    "#define NOTE(FIELD) FIELD(utf8, t) FIELD(span_u32, v) FIELD(optional_u32, o)\n"                         \
    "GYRE_MESSAGE_TAIL(note, NOTE, 200)\nGYRE_KERNEL(notes, note, note) { " body " return GYRE_REPLY; }"

static const struct case_of_rule broken[] = {
    {"#define DESK(TAKES) TAKES(request_type, reply_type)\nGYRE_KERNEL_OF(desk, DESK)", NULL, HELPERS + 1,
     "has the name of its GYRE_PROTOCOL"},
    {DESK_ACTOR DESK_ASK, NULL, HELPERS + 6,
     "'desk' takes 'keep' and gives 'say', for which there is no handler: write GYRE_HANDLER(desk, keep, say)"},
    {DESK_ACTOR DESK_ASK "GYRE_HANDLER(desk, keep, ask) { return GYRE_REPLY; }", NULL, HELPERS + 8,
     "'desk' takes 'keep' and gives 'say': write GYRE_HANDLER(desk, keep, say)"},
    {DESK_ACTOR DESK_ASK DESK_KEEP DESK_ASK, NULL, HELPERS + 9,
     "two handlers take 'ask', the other one in line 14"},
    {DESK_ACTOR DESK_ASK DESK_KEEP "GYRE_HANDLER(desk, say, ask) { return GYRE_REPLY; }", NULL, HELPERS + 9,
     "no protocol of a kernel before it takes 'say', so that this handler never runs"},
    {DESK DESK_ASK DESK_KEEP, NULL, HELPERS + 6, "declare GYRE_ACTOR_OF(desk, LIST, state)"},
    {DESK "GYRE_ACTOR_OF(desk, DESKK, ask)\n" DESK_ASK DESK_KEEP, NULL, HELPERS + 6,
     "there is no list DESKK before it; did you mean DESK?"},
    {"GYRE_MESSAGE(ask, REPLYY)", NULL, HELPERS, "there is no list REPLYY before it; did you mean REPLY?"},
    {"GYRE_MESSAGE_TAIL(ask, ELSE, 80)", NULL, HELPERS,
     "there is no list ELSE before it: write one, as `#define ELSE(FIELD) FIELD(u32, a)`"},
    {"GYRE_MESSAGE(ask, LATE)\n#define LATE(FIELD) FIELD(u32, a)", NULL, HELPERS,
     "there is no list LATE before it"},
    {"#define ODD(FIELD) FIELD(u32 *, a)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS, "a field is no pointer"},
    {"#define ODD(FIELD) FIELD(u32, *a)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS, "a field is no pointer"},
    {"#define ODD(FIELD) FIELD(u32, a) FIELD(u32, int)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS,
     "the name 'int' is a keyword of C: choose another"},
    {"#define ODD(FIELD) FIELD(u32, restrict[2])\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS,
     "the name 'restrict' is a keyword of C"},
    {"#define ODD(FIELD) FIELD(u32, FIELD)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS,
     "the name 'FIELD' is that of the list's own parameter, which the preprocessor replaces: choose another"},
    {"#define ODD(FIELD) FIELD(u32, NULL)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS,
     "the name 'NULL' is a macro of C: choose another"},
    {"#define ODD(FIELD) FIELD(u32, say) FIELD(say, last)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS,
     "a field is called 'say' as the type of a later field of its message"},
    {"#define ODD(FIELD) FIELD(u32, a)\nGYRE_MESSAGE(signed, ODD)", NULL, HELPERS + 1,
     "the name 'signed' is a keyword of C"},
    {"#define ODD(IN, INOUT) IN(u32, INOUT)\nGYRE_BUFFERS(odd, ODD)", NULL, HELPERS,
     "the name 'INOUT' is that of the list's own parameter"},
    {"#define ODD(PORT, ASK) ASK(say, ask, size, 1) ASK(say, ask, double, 1)\nGYRE_PORTS_WITH_ASKS(odd, ODD)",
     NULL, HELPERS, "the name 'double' is a keyword of C"},
    {"#define ODD(FIELD) FIELD(uint, a)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS + 1,
     "in a GYRE_MESSAGE_TAIL, utf8, span_T and optional_T"},
    {"GYRE_KERNEL(j, u32 a, reply_type) { return GYRE_REPLY; }", NULL, HELPERS,
     "'u32 a' is a parameter, where GYRE_KERNEL takes the name of a message"},
    {"GYRE_KERNEL(j, request_type, u32 a[3]) { return GYRE_REPLY; }", NULL, HELPERS,
     "'u32 a' is a parameter"},
    {"#include \"nothere.h\"", "not_there x = 3;", HELPERS, "nothere.h: no such file"},
    {DESK_ACTOR DESK_KEEP "GYRE_QUERY(desk, ask, say)\n{ state->n++; return GYRE_REPLY; }", NULL, HELPERS + 9,
     "a query (GYRE_QUERY) changes nothing; what changes the state is a GYRE_HANDLER"},
    {DESK_ACTOR DESK_KEEP DESK_ASK "GYRE_MIGRATE(keep, ask)\n{ before->n = 3; }", NULL, HELPERS + 10,
     "`before` is what was kept, and can only be read"},
    {DESK_ACTOR DESK_KEEP DESK_ASK "GYRE_MIGRATE(keep, ask)\n{ return GYRE_REPLY; }", NULL, HELPERS + 10,
     "a migration returns nothing"},
    {DESK_ACTOR DESK_KEEP DESK_ASK "GYRE_MIGRATE(keep, ask) { state->n = before->n; }\n"
                                   "GYRE_MIGRATE(keep, ask) { state->n = 2 * before->n; }",
     NULL, HELPERS + 10, "GYRE_MIGRATE says twice how a state of 'keep' goes on, the other time in line"},
    {DESK_ACTOR DESK_KEEP DESK_ASK "GYRE_MIGRATE(keep, say) { state->n = before->n; }", NULL, HELPERS + 9,
     "'say' is the state of no kernel in this file, so that this migration never runs"},
    {TEXT("if (request->v[0]) return GYRE_NO_REPLY;"), NULL, HELPERS + 2,
     "gyre_get(gyre, u32, request, request->values, i)"},
    {TEXT("if (request->o) return GYRE_NO_REPLY;"), NULL, HELPERS + 2, "gyre_has(request->limit)"},
    {TEXT("if (!request->o) return GYRE_NO_REPLY;"), NULL, HELPERS + 2, "gyre_has(request->limit)"},
    {TEXT("u32 n = request->o ? 1 : 2; (void)n;"), NULL, HELPERS + 2, "gyre_has(request->limit)"},
    {TEXT("if (request->o && 1) return GYRE_NO_REPLY;"), NULL, HELPERS + 2, "gyre_has(request->limit)"},
    {TEXT("u32 n = request->o; (void)n;"), NULL, HELPERS + 2,
     "gyre_get(gyre, u32, request, request->limit, 0)"},
    {TEXT("u32 n; n = request->o; (void)n;"), NULL, HELPERS + 2,
     "gyre_get(gyre, u32, request, request->limit, 0)"},
    {TEXT("if (gyre_string_is(request->t, \"x\")) return GYRE_NO_REPLY;"), NULL, HELPERS + 2,
     "becomes a gyre_string by gyre_string_of"},
    {TEXT("reply->t = request->t;"), NULL, HELPERS + 2, "copy them, as in `reply->text = gyre_copy("},
    {TEXT("reply->v = (request->v);"), NULL, HELPERS + 2, "copy them, as in `reply->text = gyre_copy("},
    {TEXT("") "\nGYRE_ACTOR(keeper, note, note, note) { state->t = request->t; return GYRE_REPLY; }", NULL,
     HELPERS + 3, "copy a text with `gyre_string_store(gyre_string_of(request, request->text), state->t)`"},
    {TEXT("") "\n#define KEPT(FIELD) FIELD(u32, n) FIELD(note, notes[2])\nGYRE_MESSAGE_TAIL(kept, KEPT, 80)\n"
              "GYRE_ACTOR(keeper, note, note, kept) { return GYRE_REPLY; }",
     NULL, HELPERS + 5, "the field 't' of the state 'kept' is a part"},
    {"#define KEPT(FIELD) FIELD(u32, n)\nGYRE_MESSAGE_TAIL(kept, KEPT, 80)\n" DESK
     "GYRE_ACTOR_OF(desk, DESK, kept)\n" DESK_ASK DESK_KEEP,
     NULL, HELPERS + 8, "the state 'kept' has a tail"},
    {DESK_ACTOR DESK_KEEP "GYRE_QUERY(desk, ask, say)\n{ *state = *request; return GYRE_REPLY; }", NULL,
     HELPERS + 9, "what is `const` can only be read"},
    {"#define WORDS(IN, INOUT) INOUT(u32, h)\nGYRE_BUFFERS(words, WORDS)\n" DESK
     "GYRE_ACTOR_OF_WITH(desk, DESK, ask, words)\n" DESK_KEEP
     "GYRE_QUERY(desk, ask, say)\n{ buffers->h[0] = 1; return GYRE_REPLY; }",
     NULL, HELPERS + 11, "these buffers can only be read"},
    {TEXT("if (strlen(gyre_items(u8, request, request->t)) > 3) return GYRE_NO_REPLY;"), NULL, HELPERS + 2,
     "call of 'strlen': a text knows its length"},
    {DESK "GYRE_ACTOR_OF(DESK, desk, ask)\n" DESK_ASK DESK_KEEP, NULL, HELPERS + 6,
     "'DESK' is a list, and 'desk' is none; the name comes first: write GYRE_ACTOR_OF(desk, DESK, ...)"},
    {"GYRE_MESSAGE(REPLY, other)", NULL, HELPERS, "write GYRE_MESSAGE(other, REPLY)"},
    {"GYRE_KERNEL(j, request_type, reply_type); /* adds */\n{ reply->n = 1; return GYRE_REPLY; }", NULL,
     HELPERS, "a ';' stands between GYRE_KERNEL(...) and the body of its handler: leave the ';' out"},
    {DESK_ACTOR DESK_ASK "GYRE_HANDLER(desk, keep, say)\n;\n{ reply->n = state->n; return GYRE_REPLY; }",
     NULL, HELPERS + 9, "a ';' stands between GYRE_HANDLER(...) and the body"},
    {TEXT("const GYRE_GLOBAL u32 *p = gyre_items(u32, request, request->t); (void)p;"), NULL, HELPERS + 2,
     "the items of this part (utf8) are of the type u8"},
    {TEXT("reply->v = gyre_new(gyre, u32, reply, 1); gyre_set(gyre, u8, reply, reply->v, 0, 3);"), NULL,
     HELPERS + 2, "an item of 4 bytes is read or written as one of 1. Write u32 as the type"},
    {TEXT("if (gyre_get(gyre, u64, request, request->o, 0)) return GYRE_NO_REPLY;"), NULL, HELPERS + 2,
     "the items of this part (optional_u32) are of the type u32"},
    {NULL, "u8 a[300000];\n for (u32 i = 0; i < 3; i++) {\n u8 b[300000]; a[i] = b[i] = 3; }", BODY + 2,
     "with 'b', the local variables of this function take 600004 bytes of the lane's own memory, of which there are "
     "524288"},
    {NULL, "*reply = {1, {2}};", BODY, "values in braces are for a variable where it is declared"},
    {NULL, "reply->n = request->n / 0;", BODY, "a division of an integer by zero"},
};

START_TEST(each_mistake_is_told_with_its_line_and_what_to_write)
{
    const struct case_of_rule *expected = &broken[_i];
    struct checker *checker = judge_parts(expected->helpers, expected->body);
    const bool found = has_finding(&checker->report, expected);
    if (!found)
        show(&checker->report);
    ck_assert_msg(found, "expected in line %u: %s", expected->line, expected->says);
    free(checker);
}
END_TEST

static const struct case_of_rule kept[] = {
    /* variables that do not live at the same time */
    {"GYRE_HELPER u32 f(void) { u8 a[300000]; a[0] = 3; return a[0]; }",
     "{ u8 a[300000]; a[0] = 1; reply->n = a[0]; }\n{ u8 b[300000]; b[0] = 1; reply->n = b[0]; }", 0, ""},
    /* items of another type of the same size, and a cast of items */
    {TEXT(
         "const GYRE_GLOBAL i8 *p = gyre_items(i8, request, request->t); gyre_part any = request->t;\n"
         "const GYRE_GLOBAL u32 *q = (const GYRE_GLOBAL u32 *)gyre_items(u8, request, any); (void)p; (void)q;"),
     NULL, 0, ""},
    /* a ';' where no body follows */
    {DESK "GYRE_ACTOR_OF(desk, DESK, ask);\n" DESK_ASK DESK_KEEP "GYRE_KERNEL(j, ask, say);\n"
          "GYRE_HELPER u32 f(void) { return 1; }",
     NULL, 0, ""},
    /* one migration goes on where another ends */
    {DESK_ACTOR DESK_ASK DESK_KEEP "GYRE_MIGRATE(say, keep) { state->n = before->n; }\n"
                                   "GYRE_MIGRATE(keep, ask) { state->n = before->n; }",
     NULL, 0, ""},
    /* lists of other names, of macros' parameters, given to macros that use them, and lengths that are products */
    {"#define TWICE 2\n#define ROW(F) F(u32, a[2 * TWICE]) /* * */ F(u32, b)\n#define SAME ROW\nGYRE_MESSAGE(row, SAME)\n"
     "#define TYPE(name, LIST) GYRE_MESSAGE(name, LIST)\nTYPE(other, ROW)\n#undef ROW\n"
     "struct room { u32 n; };\nGYRE_BLOCK_KERNEL(b, row, other, struct room) { return GYRE_REPLY; }",
     NULL, 0, ""},
    {TEXT(
         "u32 missing = 0; utf8 text = request->t; reply->t = gyre_copy(gyre, u8, reply, request, text);\n"
         "if (gyre_has(request->o)) missing = gyre_get(gyre, u32, request, request->o, 0); reply->v = reply->v; (void)missing;"),
     NULL, 0, ""},
};

START_TEST(what_looks_like_a_mistake_passes)
{
    struct checker *checker = judge_parts(kept[_i].helpers, kept[_i].body);
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 0);
    free(checker);
}
END_TEST

/* What follows from them in a kernel of several types is no news. */
START_TEST(nothing_else_is_told_of_messages_before_the_header)
{
    struct checker *checker =
        judge("#include <gyre/message.h>\n" DESK
              "#include <gyre/kernel.h>\nGYRE_ACTOR_OF(desk, DESK, ask)\n" DESK_ASK DESK_KEEP);
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 1);
    ck_assert_uint_eq(checker->report.findings[0].place.line, 8);
    free(checker);
}
END_TEST

/* A macro of Gyre's before any header is a function to the parser, whose end it looks for in the headers behind it. */
START_TEST(nothing_is_told_of_headers_behind_a_macro_that_there_is_not)
{
    struct checker *checker =
        judge("#define R(FIELD) FIELD(u32, n)\nGYRE_MESSAGE(r, R)\n#include <gyre/kernel.h>\n"
              "GYRE_KERNEL(k, r, r) { reply->n = 1; return GYRE_REPLY; }\n");
    show(&checker->report);
    ck_assert_uint_ge(checker->report.finding_count, 1);
    for (size_t i = 0; i < checker->report.finding_count; i++)
        ck_assert_str_eq(checker->report.findings[i].place.file, "/nowhere/k.gyre.c");
    free(checker);
}
END_TEST

/* The misspelt macro is the only finding: the handler that is missing, and the state that is unknown, follow from it. */
START_TEST(a_misspelt_macro_is_told_first_and_alone)
{
    static const struct case_of_rule cases[] = {
        {DESK_ACTOR DESK_ASK "GYRE_QUEREY(desk, keep, say)\n{ reply->n = state->n; return GYRE_REPLY; }",
         NULL, HELPERS + 8, "there is no 'GYRE_QUEREY' here; did you mean 'GYRE_QUERY'? <gyre/kernel.h>"},
        {"GYRE_KERNAL(j, request_type, reply_type)\n{ reply->n = 1; return GYRE_REPLY; }", NULL, HELPERS,
         "did you mean 'GYRE_KERNEL'?"},
        {DESK_ACTOR DESK_ASK DESK_KEEP "GYRE_MIGRATION(keep, ask)\n{ state->n = before->n; }", NULL,
         HELPERS + 9, "did you mean 'GYRE_MIGRATE'?"},
        {"GYRE_MESSAGE_TAILS(j, REPLY, 40)", NULL, HELPERS, "did you mean 'GYRE_MESSAGE_TAIL'?"},
        {"GYRE_SOMETHING(j, request_type, reply_type)\n{ return GYRE_REPLY; }", NULL, HELPERS,
         "there is no 'GYRE_SOMETHING' here: <gyre/kernel.h>, which a kernel file includes first, has"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct checker *checker = judge_parts(cases[i].helpers, NULL);
        show(&checker->report);
        ck_assert_msg(has_finding(&checker->report, &cases[i]), "expected: %s", cases[i].says);
        ck_assert_uint_eq(checker->report.finding_count, 1);
        free(checker);
    }
}
END_TEST

/* Advice for a cast would not help at the argument of a function that kernels do not have. */
START_TEST(an_argument_of_a_function_of_c_is_not_judged)
{
    struct checker *checker =
        judge_parts(TEXT("if (strlen(gyre_items(u8, request, request->t)) > 3) return GYRE_NO_REPLY;"), NULL);
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 1);
    free(checker);
}
END_TEST

/* Of what a list that there is not, or a file, would have brought along. */
START_TEST(what_follows_from_a_missing_list_is_not_told)
{
    static const char *const missing[] = {
        "GYRE_MESSAGE(ask, ABSENT)\nGYRE_ACTOR(a, ask, ask, ask) { return GYRE_REPLY; }",
        "#include \"nothere.h\"\nGYRE_ACTOR(a, ask, ask, ask) { return GYRE_REPLY; }"};
    for (size_t i = 0; i < 2; i++) {
        struct checker *checker = judge_parts(missing[i], NULL);
        show(&checker->report);
        ck_assert_uint_eq(checker->report.finding_count, 1);
        free(checker);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check_first_steps");
    TCase *tcase = tcase_create("first steps");
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, each_mistake_is_told_with_its_line_and_what_to_write, 0,
                        (int)(sizeof broken / sizeof broken[0]));
    tcase_add_loop_test(tcase, what_looks_like_a_mistake_passes, 0, (int)(sizeof kept / sizeof kept[0]));
    tcase_add_test(tcase, nothing_else_is_told_of_messages_before_the_header);
    tcase_add_test(tcase, nothing_is_told_of_headers_behind_a_macro_that_there_is_not);
    tcase_add_test(tcase, a_misspelt_macro_is_told_first_and_alone);
    tcase_add_test(tcase, an_argument_of_a_function_of_c_is_not_judged);
    tcase_add_test(tcase, what_follows_from_a_missing_list_is_not_told);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
