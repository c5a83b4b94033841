/* SPDX-License-Identifier: Apache-2.0 */
/* What the check says of ports: for each mistake the line and the sentence, and nothing of what is right. */
#include "frame.h"

/* The messages of all cases; `PORTS` is in line 7. */
#define MESSAGES                                                                                             \
    "#include <gyre/kernel.h>\n"                                                                             \
    "#define LINE(FIELD) FIELD(u32, number) FIELD(u8, text[80])\n"                                           \
    "GYRE_MESSAGE(line, LINE)\n"                                                                             \
    "#define WORD(FIELD) FIELD(u32, at) FIELD(u32, length)\n"                                                \
    "GYRE_MESSAGE(word, WORD)\n"                                                                             \
    "#define EACH(PORT, n) PORT(word, port_##n, 8)\n"
#define LIST(ports) "#define SPLIT_PORTS(PORT) " ports "\nGYRE_PORTS(split_ports, SPLIT_PORTS)\n"
#define ASKS(ports)                                                                                          \
    "#define SPLIT_PORTS(PORT, ASK) " ports "\nGYRE_PORTS_WITH_ASKS(split_ports, SPLIT_PORTS)\n"
#define PORTS      LIST("PORT(word, words, 8) PORT(line, errors, 1)")
#define KERNEL     "GYRE_KERNEL_TO(split, line, gyre_none, split_ports)\n"
#define DOES(text) "{ " text " return GYRE_NO_REPLY; }\n"
#define EMIT       DOES("GYRE_GLOBAL word *out = gyre_emit(gyre, words); if (out) out->at = 1;")

/* A kernel of several types, and the begin of its handler. */
#define DESK    "#define DESK(TAKES) TAKES(line, word)\nGYRE_PROTOCOL(desk, DESK)\n"
#define DESK_TO "GYRE_KERNEL_OF_TO(desk, DESK, split_ports)\n"

static const struct mistake {
    const char *text;
    unsigned line;
    const char *says;
} mistakes[] = {
    /* declarations */
    {MESSAGES LIST("PORT(words, words, 8)") KERNEL DOES(""), 8,
     "'words' is no message, and a port's type is one"},
    {MESSAGES "struct pair { u32 a; };\ntypedef struct pair pair;\n" LIST("PORT(pair, pairs, 8)")
         KERNEL DOES(""),
     10, "'pair' is no message, and a port's type is one: declare it with GYRE_MESSAGE before the ports"},
    {MESSAGES LIST("PORT(word, words, 0)") KERNEL EMIT, 8,
     "port words: one call may emit 1 to 4096 messages to it, and its third word is 0"},
    {MESSAGES LIST("PORT(word, words, 4097)") KERNEL EMIT, 8,
     "port words: one call may emit 1 to 4096 messages to it, and its third word is 4097"},
    {MESSAGES LIST("PORT(line, errors, 1) PORT(word, words, -1)") KERNEL EMIT, 8, "its third word is -1"},
    {MESSAGES "GYRE_CONSTANT u32 most = 3;\n" LIST("PORT(word, words, most)") KERNEL EMIT, 9,
     "how many messages one call may emit to a port is a number that the compiler knows"},
    {MESSAGES LIST("PORT(word, words)") KERNEL EMIT, 8,
     "write `PORT(word, words, 8)`: a message, the port's name"},
    {MESSAGES LIST("PORT(word, words, 8) PORT(line, words, 1)") KERNEL EMIT, 8,
     "two ports of this list are named 'words': rename one"},
    {MESSAGES LIST(
         "EACH(PORT, 1) EACH(PORT, 2) EACH(PORT, 3) EACH(PORT, 4) EACH(PORT, 5) EACH(PORT, 6) EACH(PORT, 7) "
         "EACH(PORT, 8) EACH(PORT, 9)") KERNEL DOES(""),
     8, "ports split_ports: a kernel has 1 to 8 ports, and this list has more, or none"},
    {MESSAGES LIST("") KERNEL DOES(""), 8, "ports split_ports: a kernel has 1 to 8 ports"},
    {MESSAGES "GYRE_PORTS(split_ports, SPLIT_PORTS)\n" KERNEL DOES(""), 7,
     "there is no list SPLIT_PORTS before it"},
    {MESSAGES LIST("PORT(word, class, 1)") KERNEL DOES(""), 8, "the name 'class' is a keyword in C++"},
    /* kernels */
    {MESSAGES PORTS "GYRE_KERNEL_TO(split, line, gyre_none, spilt_ports)\n" EMIT, 9,
     "'spilt_ports' are no ports that were declared before this kernel: write GYRE_PORTS(spilt_ports, LIST)"},
    {MESSAGES PORTS "GYRE_KERNEL_TO(split, line, gyre_none, gyre_none)\n" DOES(""), 9,
     "a kernel without ports is declared without _TO"},
    {MESSAGES PORTS "GYRE_KERNEL_TO(split, line, gyre_none)\n" EMIT, 9,
     "write `GYRE_KERNEL_TO(name, request, reply, ports)`"},
    {MESSAGES PORTS "GYRE_ACTOR_TO_WITH(split, line, gyre_none, split_ports, word)\n" EMIT, 9,
     "write `GYRE_ACTOR_TO_WITH(name, request, reply, ports, state, buffers)`"},
    {MESSAGES PORTS
     "GYRE_BLOCK_KERNEL_TO_WIHT(split, line, gyre_none, split_ports, word, word, gyre_none)\n" EMIT,
     9, "did you mean 'GYRE_BLOCK_KERNEL_TO_WITH'?"},
    {MESSAGES PORTS "GYRE_KERNEL_TO(split, line, gyre_none, split_ports);\n" EMIT, 9, "leave the ';' out"},
    {MESSAGES PORTS "GYRE_KERNEL_TO(split, lien, gyre_none, split_ports)\n" DOES(""), 9,
     "'lien' is no message"},
    {MESSAGES PORTS "GYRE_KEYED_ACTOR_TO(split, line, gyre_none, split_ports, word)\n" EMIT, 9,
     "write `GYRE_KEYED_ACTOR_TO(name, request, reply, ports, state, key)`"},
    {MESSAGES PORTS "GYRE_KEYED_ACTOR_TO(split, line, gyre_none, spilt_ports, word, number)\n" EMIT, 9,
     "'spilt_ports' are no ports that were declared before this kernel"},
    {MESSAGES PORTS "GYRE_KEYED_ACTOR(split, line, gyre_none, word, number)\n" EMIT, 10,
     "this kernel or helper has no 'ports', which gyre_emit, gyre_ask and GYRE_MORE need"},
    {MESSAGES PORTS "GYRE_KEYED_ACTOR_REMINDED_TO(split, line, gyre_none, split_ports, word, number)\n" EMIT
                    "GYRE_REMINDED(split) { gyre_emit(gyre, words)->at = 1; }\n",
     11, "hooks of keyed actors emit nothing"},
    /* gyre_emit */
    {MESSAGES PORTS KERNEL DOES("gyre_emit(gyre, wods)->at = 1;"), 10,
     "'wods' is no port of 'split_ports', which has: words, errors; did you mean 'words'?"},
    {MESSAGES PORTS KERNEL DOES("gyre_emit(gyre, other)->at = 1;"), 10,
     "'other' is no port of 'split_ports', which has: words, errors"},
    {MESSAGES PORTS "GYRE_KERNEL(split, line, gyre_none)\n" EMIT, 10,
     "this kernel or helper has no 'ports', which gyre_emit, gyre_ask and GYRE_MORE need: kernels declared with GYRE_KERNEL_TO"},
    {MESSAGES PORTS "GYRE_KERNEL(split, line, gyre_none)\n{\n    return GYRE_MORE;\n}\n", 11,
     "this kernel or helper has no 'ports', which gyre_emit, gyre_ask and GYRE_MORE need"},
    {MESSAGES PORTS KERNEL DOES("gyre_flow(gyre, split)->at = 1;"), 10,
     "flows have no memory at kernel 'split': write GYRE_FLOW(split, TYPE) before this function"},
    {MESSAGES PORTS
     "GYRE_HELPER void put(gyre_context *gyre) { gyre_emit(gyre, words)->at = 1; }\n" KERNEL DOES(
         "put(gyre);"),
     9, "helpers take it as a parameter of that name"},
    {MESSAGES PORTS DESK DESK_TO "GYRE_HANDLER(desk, line, word)\n" EMIT, 13,
     "so do handlers declared with GYRE_HANDLER_TO"},
    {MESSAGES PORTS DESK "GYRE_KERNEL_OF(desk, DESK)\nGYRE_HANDLER_TO(desk, line, word)\n" EMIT, 12,
     "no kernel 'desk' of several types has ports before this handler"},
    {MESSAGES PORTS DESK "GYRE_KERNEL_OF_TO(desk, DESK)\nGYRE_HANDLER_TO(desk, line, word)\n" EMIT, 11,
     "write `GYRE_KERNEL_OF_TO(name, LIST, ports)`"},
    {MESSAGES PORTS DESK DESK_TO, 11, "for which there is no handler"},
    {MESSAGES PORTS KERNEL DOES("gyre_emit(words)->at = 1;"), 10, "write `gyre_emit(gyre, words)`"},
    {MESSAGES PORTS KERNEL DOES("word *out = gyre_emit(gyre, words); if (out) out->at = 1;"), 10,
     "GYRE_GLOBAL"},
    {MESSAGES PORTS KERNEL DOES("GYRE_GLOBAL line *out = gyre_emit(gyre, words); if (out) out->number = 1;"),
     10, "a pointer becomes one to another type"},
    /* asks */
    {MESSAGES ASKS("ASK(word, words, asked, 8)") KERNEL DOES(""), 8,
     "'words' is no message, and a port's type is one"},
    {MESSAGES ASKS("ASK(word, line, asked, 0)") KERNEL DOES(""), 8,
     "port asked: one call may emit 1 to 4096 messages to it, and its third word is 0"},
    {MESSAGES ASKS("ASK(word, gyre_none, asked, 1)") KERNEL DOES(""), 8,
     "port asked: an answer is a message, and its second word is gyre_none"},
    {MESSAGES ASKS("ASK(word, line, asked)") KERNEL DOES(""), 8,
     "write `ASK(order, offer, shop, 1)`: a message, its answer"},
    {MESSAGES ASKS("ASK(word, line, asked, 1)") KERNEL DOES("gyre_emit(gyre, asked)->at = 1;"), 10,
     "this port asks (it is declared with ASK): write `gyre_ask(gyre, port, token)`"},
    {MESSAGES ASKS("PORT(word, words, 1)") KERNEL DOES("gyre_ask(gyre, words, 1)->at = 1;"), 10,
     "this port does not ask (it is declared with PORT): write `gyre_emit(gyre, port)`"},
    {MESSAGES ASKS("ASK(word, line, asked, 1)") KERNEL DOES("gyre_ask(gyre, aksed, 1)->at = 1;"), 10,
     "'aksed' is no port of 'split_ports', which has: asked; did you mean 'asked'?"},
    {MESSAGES ASKS("ASK(word, line, asked, 1)") KERNEL DOES("gyre_ask(gyre, asked)->at = 1;"), 10,
     "write `gyre_ask(gyre, shop, 1)`: the context, the name of a port, and a number"},
    {MESSAGES
     "#define SPLIT_PORTS(PORT) PORT(word, words, 8)\nGYRE_PORTS_WITH_ASKS(split_ports, SPLIT_PORTS)\n" KERNEL
         DOES(""),
     8, "a list for GYRE_PORTS has one parameter"},
    {MESSAGES
     "#define SPLIT_PORTS(PORT, ASK) PORT(word, words, 8)\nGYRE_PORTS(split_ports, SPLIT_PORTS)\n" KERNEL
         DOES(""),
     8, "one for GYRE_PORTS_WITH_ASKS has two"},
};

START_TEST(a_mistake_is_told_where_it_is)
{
    const struct mistake *mistake = &mistakes[_i];
    const struct case_of_rule expected = {.line = mistake->line, .says = mistake->says};
    struct checker *checker = judge(mistake->text);
    show(&checker->report);
    ck_assert(has_finding(&checker->report, &expected));
    free(checker);
}
END_TEST

static const char *const fine[] = {
    MESSAGES PORTS KERNEL EMIT,
    MESSAGES PORTS
    "GYRE_HELPER void put(gyre_context *gyre, split_ports *ports, u32 n)\n"
    "{ while (n--) { GYRE_GLOBAL word *out = gyre_emit(gyre, words); if (!out) break; out->at = n; } }\n" KERNEL
        DOES("put(gyre, ports, request->number);"),
    MESSAGES PORTS "GYRE_KERNEL_TO_WITH(split, line, gyre_none, split_ports, word, gyre_none)\n" DOES(
        "if (gyre_emit(gyre, errors)) gyre_atomic_add(&state->at, 1u);") "GYRE_ACTOR_TO(actor, line, word, split_ports, "
                                                                         "word)\n" DOES(
                                                                             "state->at += gyre_hop(gyre);"),
    MESSAGES PORTS "GYRE_BLOCK_KERNEL_TO(split, line, gyre_none, split_ports, word)\n" DOES(
        "gyre_barrier(gyre); if (gyre_lane(gyre) == 0) { GYRE_GLOBAL word *out = gyre_emit(gyre, words);\n"
        "if (out) out->at = scratch->at + (u32)gyre_flow_id(gyre); }"),
    MESSAGES LIST("PORT(u32, numbers, 4096) PORT(gyre_none, ticks, 1) PORT(word, word, 2 * 3)")
        KERNEL DOES("GYRE_GLOBAL u32 *n = gyre_emit(gyre, numbers); if (n) *n = 1; gyre_emit(gyre, ticks); "
                    "gyre_emit(gyre, word)->at = 1;"),
    MESSAGES PORTS DESK DESK_TO "GYRE_HANDLER_TO(desk, line, word)\n" EMIT,
    MESSAGES PORTS DESK "GYRE_BLOCK_KERNEL_OF_TO_WITH(desk, DESK, split_ports, word, line, gyre_none)\n"
                        "GYRE_HANDLER_TO(desk, line, word)\n" EMIT,
    MESSAGES ASKS("PORT(word, words, 8) ASK(word, line, asked, 2 * 3)") KERNEL DOES(
        "if (gyre_token(gyre) == 0) gyre_ask(gyre, asked, 1)->at = 1; gyre_emit(gyre, words)->at = 1;"),
    /* a kernel without ports may use the name */
    MESSAGES "GYRE_KERNEL(plain, line, gyre_none)\n" DOES(
        "u32 ports = gyre_hop(gyre); if (ports) return GYRE_FAILED;"),
};

START_TEST(what_is_right_passes)
{
    struct checker *checker = judge(fine[_i]);
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 0);
    ck_assert_uint_ge(checker->report.kernel_count, 1);
    free(checker);
}
END_TEST

START_TEST(kernels_with_ports_are_listed_with_their_places)
{
    char text[512] = "";
    struct checker *checker =
        judge(MESSAGES PORTS KERNEL EMIT "GYRE_KERNEL(plain, line, gyre_none)\n" DOES(""));
    FILE *out = fmemopen(text, sizeof text, "w");
    report_write(&checker->report, out);
    fclose(out);
    ck_assert_str_eq(text, "kernel\tsplit\t9\nports\tsplit\t/nowhere/k.gyre.c\t9\nkernel\tplain\t11\ndone\n");
    free(checker);
    checker = judge(MESSAGES ASKS("ASK(word, line, asked, 1)") KERNEL DOES(""));
    out = fmemopen(text, sizeof text, "w");
    report_write(&checker->report, out);
    fclose(out);
    ck_assert_ptr_nonnull(
        strstr(text, "\nrare\tASK\t/nowhere/k.gyre.c\t8\n")); /* backends without asks are told where */
    free(checker);
    memset(text, 0, sizeof text); /* and backends that have asks or the other words alone, of both */
    checker = judge(MESSAGES ASKS("ASK(word, line, asked, 1)") KERNEL "{ return GYRE_MORE; }\n");
    out = fmemopen(text, sizeof text, "w");
    report_write(&checker->report, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "\nrare\tASK\t/nowhere/k.gyre.c\t8\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nrare\tGYRE_MORE\t/nowhere/k.gyre.c\t10\n"));
    free(checker);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check_ports");
    TCase *tcase = tcase_create("check_ports");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_mistake_is_told_where_it_is, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_loop_test(tcase, what_is_right_passes, 0, (int)(sizeof fine / sizeof fine[0]));
    tcase_add_test(tcase, kernels_with_ports_are_listed_with_their_places);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
