/* SPDX-License-Identifier: Apache-2.0 */
/* Child programs: their output, their end, their deadline. */
#include "core/base/error.h"
#include "core/base/places.h"
#include "core/base/process.h"
#include "gyre/waiting.h"
#include "unit/unit.h"
#include "../../patience.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* Runs a shell script for at most `limit_ns`; `errors` may be NULL, both have 64 bytes. */
static gyre_status shell(const char *script, char output[64], char errors[64], uint64_t limit_ns,
                         struct gyre_process_end *end)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    struct gyre_process_desc desc = {.arguments = arguments, .deadline_ns = gyre_clock_ns() + limit_ns};
    desc.output = output;
    desc.output_size = 64;
    desc.errors = errors;
    desc.errors_size = errors ? 64 : 0;
    return gyre_process_run(&desc, end);
}

START_TEST(both_outputs_and_the_exit_code_come_back)
{
    char output[64], errors[64];
    struct gyre_process_end end;
    ck_assert_int_eq(shell("echo out; echo err >&2; exit 7", output, errors, patiently(10 * SECOND), &end),
                     GYRE_OK);
    ck_assert_str_eq(output, "out\n");
    ck_assert_str_eq(errors, "err\n");
    ck_assert_int_eq(end.exit_code, 7);
    ck_assert_int_eq(end.signal, 0);
}
END_TEST

START_TEST(outputs_are_joined_when_no_place_is_given_for_errors)
{
    char output[64];
    struct gyre_process_end end;
    ck_assert_int_eq(shell("echo a; echo b >&2; echo c", output, NULL, patiently(10 * SECOND), &end),
                     GYRE_OK);
    ck_assert_str_eq(output, "a\nb\nc\n");
}
END_TEST

START_TEST(output_longer_than_its_place_is_cut_and_counted)
{
    char output[64];
    struct gyre_process_end end;
    ck_assert_int_eq(
        shell("head -c 200000 /dev/zero | tr '\\0' y", output, NULL, patiently(30 * SECOND), &end), GYRE_OK);
    ck_assert_uint_eq(strlen(output), 63);
    ck_assert_uint_eq(end.output_length, 200000);
}
END_TEST

START_TEST(missing_program_is_not_found)
{
    const char *const arguments[] = {"gyre-no-such-program", NULL};
    const struct gyre_process_desc desc = {.arguments = arguments, .deadline_ns = UINT64_MAX};
    struct gyre_process_end end;
    ck_assert_int_eq(gyre_process_run(&desc, &end), GYRE_NOT_FOUND);
    ck_assert_str_eq(gyre_error_text(), "there is no program 'gyre-no-such-program' in PATH");
}
END_TEST

START_TEST(a_program_of_gyre_that_is_missing_says_where_it_belongs)
{
    char program[PATH_MAX], sentence[PATH_MAX + 100];
    const char *const arguments[] = {program, NULL};
    const struct gyre_process_desc desc = {.arguments = arguments, .deadline_ns = UINT64_MAX};
    struct gyre_process_end end;
    snprintf(program, sizeof program, "%s/gyre-none", gyre_place_helpers());
    snprintf(sentence, sizeof sentence,
             "there is no program '%s', which is installed together with the library: ", program);
    ck_assert_int_eq(gyre_process_run(&desc, &end), GYRE_NOT_FOUND);
    ck_assert_int_eq(strncmp(gyre_error_text(), sentence, strlen(sentence)), 0);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "at ../lib/gyre beside the program"));
}
END_TEST

START_TEST(missing_folder_is_named)
{
    const char *const arguments[] = {"true", NULL};
    const struct gyre_process_desc desc = {
        .arguments = arguments, .directory = "/no/such/folder", .deadline_ns = UINT64_MAX};
    struct gyre_process_end end;
    ck_assert_int_eq(gyre_process_run(&desc, &end), GYRE_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "/no/such/folder"));
}
END_TEST

START_TEST(child_runs_in_its_folder_with_empty_input)
{
    const char *const arguments[] = {"sh", "-c", "pwd; cat", NULL};
    char output[64];
    const struct gyre_process_desc desc = {.arguments = arguments,
                                           .directory = "/usr",
                                           .deadline_ns = gyre_clock_ns() + patiently(10 * SECOND),
                                           .output = output,
                                           .output_size = sizeof output};
    struct gyre_process_end end;
    ck_assert_int_eq(gyre_process_run(&desc, &end), GYRE_OK);
    ck_assert_str_eq(output, "/usr\n");
}
END_TEST

/* A zombie counts: it is gone as soon as whoever inherits it reaps it. */
static int is_gone(int pid)
{
    char state[512] = "", path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int descriptor = open(path, O_RDONLY);
    ssize_t got = descriptor < 0 ? 0 : read(descriptor, state, sizeof state - 1);
    if (descriptor >= 0)
        close(descriptor);
    return got <= 0 || strstr(state, ") Z ") != NULL;
}

START_TEST(deadline_kills_the_whole_group)
{
    char output[64];
    struct gyre_process_end end;
    uint64_t start = gyre_clock_ns();
    ck_assert_int_eq(
        shell("sleep 300 & echo $!; trap '' TERM; while :; do sleep 1; done", output, NULL, SECOND / 5, &end),
        GYRE_TIMEOUT);
    ck_assert_uint_lt(gyre_clock_ns() - start, 200 * SECOND);
    int grandchild = atoi(output);
    ck_assert_int_gt(grandchild, 0);
    while (!is_gone(grandchild)) /* until Check ends the test */
        usleep(10000);
    ck_assert(is_gone(grandchild));
}
END_TEST

START_TEST(a_daemon_left_behind_does_not_hold_up_the_end)
{
    struct gyre_process_end end;
    char output[64];
    uint64_t start = gyre_clock_ns();
    ck_assert_int_eq(shell("sleep 300 & echo $!", output, NULL, patiently(20 * SECOND), &end), GYRE_OK);
    const int daemon = atoi(output);
    ck_assert_int_gt(daemon, 1);
    kill(daemon, SIGKILL);
    ck_assert_uint_lt(gyre_clock_ns() - start, 200 * SECOND);
}
END_TEST

START_TEST(a_signal_is_told_apart_from_an_exit_code)
{
    struct gyre_process_end end;
    char output[64];
    ck_assert_int_eq(shell("kill -ABRT $$", output, NULL, patiently(10 * SECOND), &end), GYRE_OK);
    ck_assert_int_eq(end.signal, SIGABRT);
    const char *const arguments[] = {"sh", "-c", "kill -ABRT $$", NULL};
    const gyre_program_desc desc = {.size = sizeof desc, .arguments = arguments, .deadline_ns = UINT64_MAX};
    int exit_code;
    ck_assert_int_eq(gyre_process_run_program(&desc, &exit_code), GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "'sh' was ended by signal 6"));
}
END_TEST

START_TEST(no_descriptor_is_inherited)
{
    int extra = open("/dev/null", O_RDONLY); /* without O_CLOEXEC on purpose */
    char output[64];
    struct gyre_process_end end;
    ck_assert_int_eq(fcntl(extra, F_DUPFD, 100), 100);
    ck_assert_int_eq(
        shell("ls /proc/self/fd | sort -n | tail -n 1", output, NULL, patiently(10 * SECOND), &end), GYRE_OK);
    ck_assert_int_lt(atoi(output), 10);
    close(100);
    close(extra);
}
END_TEST

START_TEST(what_is_preloaded_is_kept_from_compilers)
{
    const char *const arguments[] = {"sh", "-c", "echo \"${LD_PRELOAD-none} $GYRE_TEST_KEPT\"", NULL};
    char output[64];
    gyre_program_desc desc = {.size = sizeof desc,
                              .arguments = arguments,
                              .deadline_ns = gyre_clock_ns() + patiently(10 * SECOND),
                              .output = output,
                              .output_size = sizeof output};
    int exit_code;
    setenv("LD_PRELOAD", "", 1);
    setenv("GYRE_TEST_KEPT", "kept", 1);
    gyre_status status = gyre_process_run_program(&desc, &exit_code);
    unsetenv("LD_PRELOAD");
    unsetenv("GYRE_TEST_KEPT");
    ck_assert_int_eq(status, GYRE_OK);
    ck_assert_str_eq(output, "none kept\n");
}
END_TEST

START_TEST(ignored_child_signal_is_explained)
{
    struct gyre_process_end end;
    char output[64];
    signal(SIGCHLD, SIG_IGN);
    gyre_status status = shell("exit 0", output, NULL, patiently(10 * SECOND), &end);
    signal(SIGCHLD, SIG_DFL);
    ck_assert_int_eq(status, GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "SIGCHLD"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("process");
    TCase *tcase = tcase_create("process");
    tcase_set_timeout(tcase, 40);
    tcase_add_test(tcase, both_outputs_and_the_exit_code_come_back);
    tcase_add_test(tcase, outputs_are_joined_when_no_place_is_given_for_errors);
    tcase_add_test(tcase, output_longer_than_its_place_is_cut_and_counted);
    tcase_add_test(tcase, missing_program_is_not_found);
    tcase_add_test(tcase, a_program_of_gyre_that_is_missing_says_where_it_belongs);
    tcase_add_test(tcase, missing_folder_is_named);
    tcase_add_test(tcase, child_runs_in_its_folder_with_empty_input);
    tcase_add_test(tcase, deadline_kills_the_whole_group);
    tcase_add_test(tcase, a_daemon_left_behind_does_not_hold_up_the_end);
    tcase_add_test(tcase, a_signal_is_told_apart_from_an_exit_code);
    tcase_add_test(tcase, no_descriptor_is_inherited);
    tcase_add_test(tcase, what_is_preloaded_is_kept_from_compilers);
    tcase_add_test(tcase, ignored_child_signal_is_explained);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
