/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the cases of `gyre test`, each in a process of its own (`gyre call --case`), because a handler may end its process or
 * hang it. Threads start the processes; one at a time prints.
 */
#ifndef GYRE_CLI_CASES_TEST_JOBS_H
#define GYRE_CLI_CASES_TEST_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum test_result { TEST_WAITS, TEST_PASSED, TEST_FAILED, TEST_SKIPPED } test_result;

typedef struct test_job {
    const char *path;    /* of the case file */
    const char *backend; /* NULL: as configured */
    bool takes_checks;   /* gets check_options as well */
    test_result result;  /* TEST_SKIPPED from the beginning: it is not run */
    char *said; /* why it failed or was skipped; warnings of one that passed: lines; NULL: nothing. free() */
    uint64_t took_ns;
} test_job;

typedef struct test_jobs {
    test_job *jobs;
    size_t count;
    size_t at_once;             /* processes at a time */
    uint64_t limit_ms;          /* longest time of a process; 0: no limit */
    const char *const *options; /* for every process */
    size_t option_count;
    const char *const *check_options; /* for those that take checks */
    size_t check_option_count;
    void (*finished)(
        void *context,
        const test_job *job); /* or NULL; called in the order of the jobs, by one thread at a time */
    void *context;
} test_jobs;

/** Runs all jobs. Returns an exit code, which is CLI_OK whatever the results are. A signal that ends this process kills those of the
 * jobs first. */
int test_jobs_run(test_jobs *jobs);

#endif
