/* SPDX-License-Identifier: Apache-2.0 */
/* The error stack and the text helpers. */
#include "core/base/error.h"
#include "core/base/text.h"
#include "gyre/lack.h"
#include "gyre/thread.h"
#include "unit/unit.h"

#include <string.h>
#include <sys/resource.h>

START_TEST(error_text_reads_outermost_first)
{
    gyre_error_set(GYRE_NOT_FOUND, "file '%s' does not exist", "a.ini");
    gyre_error_add(GYRE_CONFIG, "reading the configuration");
    ck_assert_str_eq(gyre_error_text(), "reading the configuration: file 'a.ini' does not exist");
    ck_assert_str_eq(gyre_error_cause(), "file 'a.ini' does not exist");
    ck_assert_int_eq(gyre_error_status(), GYRE_CONFIG);
}
END_TEST

START_TEST(error_cause_survives_more_frames_than_fit)
{
    gyre_error_set(GYRE_FAILED, "the cause");
    for (int i = 0; i < 100; i++)
        gyre_error_add(GYRE_FAILED, "frame %d", i);
    ck_assert_str_eq(gyre_error_cause(), "the cause");
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "frame 99"));
}
END_TEST

START_TEST(error_longer_than_a_frame_is_cut)
{
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    gyre_error_set(GYRE_FAILED, "%s", text);
    ck_assert_uint_lt(strlen(gyre_error_text()), sizeof text);
}
END_TEST

START_TEST(error_that_is_held_stays)
{
    gyre_error_set(GYRE_TIMEOUT, "the cause");
    gyre_error_hold();
    gyre_error_set(GYRE_LOST, "another");
    gyre_error_add(GYRE_LOST, "more");
    gyre_error_clear();
    gyre_error_let_go();
    ck_assert_str_eq(gyre_error_text(), "the cause");
    ck_assert_int_eq(gyre_error_status(), GYRE_TIMEOUT);
    gyre_error_clear();
    ck_assert_str_eq(gyre_error_text(), "");
}
END_TEST

START_TEST(nearest_name_finds_typos_and_refuses_strangers)
{
    const char *const names[] = {"backends", "bench", "cache", "call", "compile", "config"};
    ck_assert_str_eq(gyre_text_nearest("bakends", names, 6), "backends");
    ck_assert_str_eq(gyre_text_nearest("cofnig", names, 6), "config");
    ck_assert_str_eq(gyre_text_nearest("CONFIG", names, 6), "config");
    ck_assert_ptr_null(gyre_text_nearest("zebra", names, 6));
    static const char *const birds[] = {"crane", "wren", "owl"};
    ck_assert_str_eq(gyre_text_nearest("crain", birds, 3), "crane");
    ck_assert_ptr_null(gyre_text_nearest("rain", birds + 1, 2));
    static const char *const letters[] = {"a", "b", "a1"};
    ck_assert_ptr_null(gyre_text_nearest("c", letters, 2)); /* nothing of it is there */
    char hint[GYRE_TEXT_HINT_SIZE];
    ck_assert_str_eq(gyre_text_hint("cran", birds, 3, hint), "; did you mean 'crane'?");
    ck_assert_str_eq(gyre_text_hint("crane", birds, 3, hint), ""); /* it was given */
}
END_TEST

static void require_whole(const char *given, const char *wanted)
{
    char text[16];
    snprintf(text, sizeof text, "%s", given);
    gyre_text_end_whole(text);
    ck_assert_str_eq(text, wanted);
}

START_TEST(a_text_that_was_cut_ends_with_a_whole_character)
{
    require_whole("", "");
    require_whole("whole", "whole");
    require_whole("caf\xc3\xa9", "caf\xc3\xa9");
    require_whole("caf\xc3", "caf");
    require_whole("\xe2\x82\xac", "\xe2\x82\xac");
    require_whole("a\xe2\x82", "a");
    require_whole("b\xf0\x9f\x98", "b");
    require_whole("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
    require_whole("no\x80\x80\x80\x80", "no\x80\x80\x80\x80"); /* it never was one */
}
END_TEST

START_TEST(status_words_cover_every_status)
{
    ck_assert_str_eq(gyre_status_word(GYRE_OK), "ok");
    ck_assert_str_eq(gyre_status_word(GYRE_INTERNAL), "internal");
    ck_assert_str_eq(gyre_status_word((gyre_status)99), "unknown");
}
END_TEST

static void *tell_mask(void *argument)
{
    pthread_sigmask(SIG_SETMASK, NULL, argument);
    return argument;
}

START_TEST(a_lack_of_threads_names_the_limit_of_addresses_where_there_is_one)
{
    struct rlimit before;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    const struct rlimit some = {(rlim_t)1 << 46, before.rlim_max}, none = {before.rlim_max, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    if (before.rlim_max == RLIM_INFINITY)
        ck_assert_str_eq(gyre_lack_remedy(EAGAIN),
                         "; raise the limit of processes and threads (ulimit -u, or the container's)");
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &some), 0);
    const char *remedy = gyre_lack_remedy(EAGAIN);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_str_eq(remedy,
                     "; raise the limit of memory (ulimit -v), or that of processes and threads (ulimit -u, "
                     "or the container's)");
}
END_TEST

START_TEST(what_a_process_lacks_is_told_from_what_is_wrong)
{
    ck_assert_int_eq(gyre_lack_status(EMFILE, GYRE_INVALID), GYRE_EXHAUSTED);
    ck_assert_int_eq(gyre_lack_status(ENOSPC, GYRE_FAILED), GYRE_EXHAUSTED);
    ck_assert_int_eq(gyre_lack_status(EACCES, GYRE_INVALID), GYRE_INVALID);
    ck_assert_int_eq(gyre_lack_in("/usr/bin/ld: cannot find -lc: Too many open files"), EMFILE);
    ck_assert_int_eq(gyre_lack_in("k.gyre.c:3: unknown type"), 0);
}
END_TEST

/* A compiler may be built with another C library than this program. */
START_TEST(a_lack_is_found_in_the_words_of_each_c_library)
{
    ck_assert_int_eq(gyre_lack_in("cc: a.c: Too many open files"), EMFILE);
    ck_assert_int_eq(gyre_lack_in("cc: a.c: No file descriptors available"), EMFILE);
    ck_assert_int_eq(gyre_lack_in("ld: out of file descriptors"), EMFILE);
    ck_assert_int_eq(gyre_lack_in("cc: Cannot allocate memory"), ENOMEM);
    ck_assert_int_eq(gyre_lack_in("cc: Out of memory"), ENOMEM);
    ck_assert_int_eq(gyre_lack_in("ld: No space left on device"), ENOSPC);
    ck_assert_int_eq(gyre_lack_in("ld: Disk quota exceeded"), EDQUOT);
    ck_assert_int_eq(gyre_lack_in("ld: Quota exceeded"), EDQUOT);
}
END_TEST

START_TEST(threads_leave_the_programs_signals_and_take_their_own)
{
    pthread_t thread;
    sigset_t before, inside, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(gyre_thread_start(&thread, NULL, tell_mask, &inside), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < SIGRTMAX; number++)
        ck_assert_int_eq(sigismember(&after, number), sigismember(&before, number));
    ck_assert(sigismember(&inside, SIGINT) == 1 && sigismember(&inside, SIGTERM) == 1);
    ck_assert(sigismember(&inside, SIGUSR1) == 1 && sigismember(&inside, SIGCHLD) == 1);
    ck_assert(sigismember(&inside, SIGSEGV) == 0 && sigismember(&inside, SIGBUS) == 0);
    ck_assert(sigismember(&inside, SIGFPE) == 0 && sigismember(&inside, SIGILL) == 0);
}
END_TEST

START_TEST(a_plain_text_has_no_controls)
{
    static const char *const odd[] = {"a\nb",
                                      "\x1b[31m",
                                      "\x7f",
                                      "\xff\xfe",
                                      "\xc2",
                                      ("\xc2\x9b"
                                       "31m")};
    ck_assert(gyre_text_is_plain(""));
    ck_assert(gyre_text_is_plain("prices of M\xc3\xbcnchen/2"));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        ck_assert_msg(!gyre_text_is_plain(odd[i]), "%zu", i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tcase = tcase_create("base");
    tcase_add_test(tcase, a_plain_text_has_no_controls);
    tcase_add_test(tcase, error_text_reads_outermost_first);
    tcase_add_test(tcase, error_cause_survives_more_frames_than_fit);
    tcase_add_test(tcase, error_longer_than_a_frame_is_cut);
    tcase_add_test(tcase, error_that_is_held_stays);
    tcase_add_test(tcase, nearest_name_finds_typos_and_refuses_strangers);
    tcase_add_test(tcase, a_text_that_was_cut_ends_with_a_whole_character);
    tcase_add_test(tcase, status_words_cover_every_status);
    tcase_add_test(tcase, a_lack_of_threads_names_the_limit_of_addresses_where_there_is_one);
    tcase_add_test(tcase, what_a_process_lacks_is_told_from_what_is_wrong);
    tcase_add_test(tcase, a_lack_is_found_in_the_words_of_each_c_library);
    tcase_add_test(tcase, threads_leave_the_programs_signals_and_take_their_own);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
