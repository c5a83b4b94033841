/* SPDX-License-Identifier: Apache-2.0 */
/* Writes beyond the limit of file sizes: an error and no signal, whatever the program does with the signal. */
#include "core/base/file_write.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit before;
static int file;

static void setup(void)
{
    char path[] = "/tmp/gyre-test-XXXXXX";
    file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    unlink(path);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
}

static void teardown(void)
{
    close(file);
}

/* For no longer than the writes: Check, too, has a file, and each test is a process that SIGXFSZ would end. */
static void limit(rlim_t size)
{
    const struct rlimit now = {size, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
}

static bool is_pending(void)
{
    sigset_t pending;
    ck_assert_int_eq(sigpending(&pending), 0);
    return sigismember(&pending, SIGXFSZ) == 1;
}

static void block(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
}

static bool is_blocked(void)
{
    sigset_t set;
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
    return sigismember(&set, SIGXFSZ) == 1;
}

static void write_beyond(void)
{
    char bytes[32] = {0};
    limit(16);
    ssize_t first = gyre_file_write(file, bytes, sizeof bytes);
    ssize_t second = gyre_file_write(file, bytes, sizeof bytes);
    int error = errno;
    ssize_t third = gyre_file_write_at(file, bytes, sizeof bytes, 16);
    int last_error = errno;
    limit(before.rlim_cur);
    ck_assert_int_eq(first, 16);
    ck_assert_int_eq(second, -1);
    ck_assert_int_eq(error, EFBIG);
    ck_assert_int_eq(third, -1);
    ck_assert_int_eq(last_error, EFBIG);
}

START_TEST(a_write_beyond_the_limit_is_an_error_alone)
{
    write_beyond();
    ck_assert(!is_pending());
    ck_assert(!is_blocked());
}
END_TEST

START_TEST(a_program_that_blocks_the_signal_finds_none)
{
    block();
    write_beyond();
    ck_assert(!is_pending());
    ck_assert(is_blocked());
}
END_TEST

START_TEST(a_signal_that_was_pending_stays)
{
    block();
    ck_assert_int_eq(raise(SIGXFSZ), 0);
    write_beyond();
    ck_assert(is_pending());
}
END_TEST

START_TEST(stdio_is_quiet_in_a_stretch)
{
    struct gyre_file_hush hush;
    FILE *out = fdopen(dup(file), "w");
    ck_assert_ptr_nonnull(out);
    gyre_file_hush_begin(&hush);
    limit(16);
    fprintf(out, "%64d", 1);
    int result = fclose(out), error = errno;
    limit(before.rlim_cur);
    gyre_file_hush_end(&hush);
    ck_assert_int_ne(result, 0);
    ck_assert_int_eq(error, EFBIG);
    ck_assert(!is_pending());
    ck_assert(!is_blocked());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file_write");
    TCase *tcase = tcase_create("file_write");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_write_beyond_the_limit_is_an_error_alone);
    tcase_add_test(tcase, a_program_that_blocks_the_signal_finds_none);
    tcase_add_test(tcase, a_signal_that_was_pending_stays);
    tcase_add_test(tcase, stdio_is_quiet_in_a_stretch);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
