/* SPDX-License-Identifier: Apache-2.0 */
/* Which words of the dialect a check refuses, for backends that have all of them, some, or none. */
#include <string.h>

#include "core/pipeline/check.h"
#include "unit/unit.h"

#define MORE "kernel\tpour\t3\nrare\tGYRE_MORE\tk.c\t5\n"
#define ASKS "rare\tASK\tk.c\t2\n"

static struct gyre_check read(const char *report, const char *wordless, const char *askless)
{
    char text[256];
    struct gyre_check check = {.wordless = wordless, .askless = askless};
    strcpy(text, report);
    gyre_check_read(&check, text);
    return check;
}

static void expect_refused(const char *report, const char *wordless, const char *askless,
                           const char *sentence)
{
    const struct gyre_check check = read(report, wordless, askless);
    ck_assert_int_eq(check.verdict, GYRE_CHECK_REFUSED);
    ck_assert_int_eq(check.status, GYRE_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(check.sentence, sentence));
}

START_TEST(a_backend_with_all_words_refuses_none)
{
    ck_assert_int_eq(read(MORE ASKS "done\n", NULL, NULL).verdict, GYRE_CHECK_PASSED);
}
END_TEST

START_TEST(asks_are_refused_apart_from_other_words)
{
    expect_refused(MORE ASKS "done\n", NULL, "far", "k.c:2: backend 'far' does not have ASK yet");
    expect_refused("kernel\tpour\t3\nrare\tgyre_token\tk.c\t4\ndone\n", NULL, "far",
                   "k.c:4: backend 'far' does not have gyre_token yet");
    ck_assert_int_eq(read(MORE "done\n", NULL, "far").verdict, GYRE_CHECK_PASSED);
}
END_TEST

START_TEST(rounds_are_refused_apart_from_asks)
{
    char text[] = "kernel\tpour\t3\nrare\tgyre_round\tk.c\t4\ndone\n";
    struct gyre_check check = {.roundless = "far"};
    ck_assert_int_eq(read("rare\tgyre_round\tk.c\t4\nkernel\tpour\t3\ndone\n", NULL, "far").verdict,
                     GYRE_CHECK_PASSED);
    gyre_check_read(&check, text);
    ck_assert_int_eq(check.verdict, GYRE_CHECK_REFUSED);
    ck_assert_ptr_nonnull(strstr(check.sentence, "k.c:4: backend 'far' does not have gyre_round yet"));
}
END_TEST

START_TEST(other_words_are_refused_apart_from_asks)
{
    expect_refused(MORE ASKS "done\n", "far", NULL, "k.c:5: backend 'far' does not have GYRE_MORE yet");
    ck_assert_int_eq(read("kernel\tpour\t3\n" ASKS "done\n", "far", NULL).verdict, GYRE_CHECK_PASSED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check_words");
    TCase *tcase = tcase_create("check_words");
    tcase_add_test(tcase, a_backend_with_all_words_refuses_none);
    tcase_add_test(tcase, asks_are_refused_apart_from_other_words);
    tcase_add_test(tcase, rounds_are_refused_apart_from_asks);
    tcase_add_test(tcase, other_words_are_refused_apart_from_asks);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
