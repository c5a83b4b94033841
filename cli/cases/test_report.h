/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of `gyre test`: a line a case, a line that counts, JSON, and a file in the form of JUnit. */
#ifndef GYRE_CLI_CASES_TEST_REPORT_H
#define GYRE_CLI_CASES_TEST_REPORT_H

#include "cli/cases/test_jobs.h"

typedef struct test_counts {
    size_t passed, failed, skipped;
} test_counts;

test_counts test_report_count(const test_jobs *jobs);
/** Prints a case's line on standard output, and what it said below it, unless it passed. Has the form of test_jobs.finished. */
void test_report_line(void *context, const test_job *job);
/** Prints "12 passed, 1 failed, 0 skipped" on standard error. */
void test_report_counts(const test_counts *counts);
/** Prints all results as one JSON document. Returns an exit code. */
int test_report_json(const test_jobs *jobs);
/** Writes all results to a file in the form of JUnit. Returns an exit code; prints why when it is not CLI_OK. */
int test_report_junit(const test_jobs *jobs, const char *path);

#endif
