/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit-test program shares: run a suite, refuse to pass when nothing ran, start threads.
 *
 * A mistyped CK_RUN_CASE makes Check run nothing and exit 0; unit_run turns that into a failure.
 *
 * Check writes the place of each assertion that holds into a pipe, for who crashes behind it: most of the time of
 * tests with loops. Here that is left out; a crash is told with the place where its test begins.
 */
#ifndef GYRE_TESTS_UNIT_H
#define GYRE_TESTS_UNIT_H

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define _mark_point(file, line) ((void)0)

/** Starts a thread. Without it the test would wait for ever for what the thread was to do. */
static inline void unit_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    ck_assert_int_eq(pthread_create(thread, NULL, run, argument), 0);
}

static inline int unit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int ran = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (ran == 0)
        fprintf(stderr, "no test ran: is CK_RUN_CASE or CK_RUN_SUITE mistyped?\n");
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
