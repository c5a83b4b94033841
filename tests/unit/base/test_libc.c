/* SPDX-License-Identifier: Apache-2.0 */
/* What some C libraries lack is there with each of them. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/libc.h"
#include "unit/unit.h"

START_TEST(signals_have_their_names)
{
    ck_assert_str_eq(gyre_libc_signal_name(SIGSEGV), "SEGV");
    ck_assert_str_eq(gyre_libc_signal_name(SIGKILL), "KILL");
    ck_assert_str_eq(gyre_libc_signal_name(SIGXFSZ), "XFSZ");
    ck_assert_ptr_null(gyre_libc_signal_name(0));
    ck_assert_ptr_null(gyre_libc_signal_name(4711));
}
END_TEST

START_TEST(an_address_tells_its_object)
{
    /* a function that no sanitizer replaces by one of the program */
    const char *library = gyre_libc_object_of((const void *)(uintptr_t)getsubopt);
    static const char here;
    ck_assert_str_eq(gyre_libc_object_of(&here), "");
    ck_assert_ptr_nonnull(library);
    ck_assert_ptr_nonnull(strchr(library, '/'));
    ck_assert_ptr_null(gyre_libc_object_of((const void *)1));
}
END_TEST

/* What a shell that posix_spawn starts says of two descriptors: 0: the first one is open, and the second one is not. */
static int spawn_and_look(int kept, int closed)
{
    char script[128];
    char *arguments[] = {(char *)"sh", (char *)"-c", script, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    snprintf(script, sizeof script,
             "{ true >&%d; } 2>/dev/null || exit 1; { true >&%d; } 2>/dev/null && exit 2; exit 0", kept,
             closed);
    posix_spawn_file_actions_init(&actions);
    ck_assert_int_eq(gyre_libc_close_from(&actions, closed), 0);
    ck_assert_int_eq(posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, NULL), 0);
    posix_spawn_file_actions_destroy(&actions);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(a_child_has_no_descriptor_from_there_on)
{
    const int null = open("/dev/null", O_WRONLY); /* without close-on-exec */
    ck_assert_int_ge(null, 0);
    ck_assert_int_eq(dup2(null, 7), 7);
    ck_assert_int_eq(dup2(null, 8), 8);
    ck_assert_int_eq(spawn_and_look(7, 8), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libc");
    TCase *all = tcase_create("all");
    tcase_add_test(all, signals_have_their_names);
    tcase_add_test(all, an_address_tells_its_object);
    tcase_add_test(all, a_child_has_no_descriptor_from_there_on);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
