/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre-check: judges one kernel file by the rules of the dialect, and writes a report (report.h) on standard output. The
 * compile pipeline runs it in a process of its own, because libclang's LLVM and a driver's LLVM cannot live in one process.
 * Exit code 0: the report is complete, also when it has findings.
 */
#include "cli/check/checker.h"
#include "cli/check/judge.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { MEMORY_MAX_MIB = 4096, SECONDS_MAX = 120 };

/* Limits memory and time, because a file can make the parser grow without bound. */
static void limit_resources(void)
{
    struct rlimit memory = {(rlim_t)MEMORY_MAX_MIB << 20, (rlim_t)MEMORY_MAX_MIB << 20};
    struct rlimit seconds = {SECONDS_MAX, SECONDS_MAX};
    struct rlimit core = {0, 0};
#ifndef GYRE_CHECK_NO_MEMORY_LIMIT
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_CORE, &core);
}

int main(int argc, char **argv)
{
    static struct checker checker;
    if (argc < 4 || strcmp(argv[1], "--headers") != 0) {
        fputs(
            "usage: gyre-check --headers FOLDER FILE [OPTION...]\n"
            "Checks a kernel file against the rules of the dialect; FOLDER holds gyre/kernel.h, OPTIONs are the\n"
            "preprocessor's: -D, -U, -I, -include and their kin.\n",
            stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody waits for the report of an orphan */
    limit_resources();
    checker.options = (const char *const *)argv + 4;
    checker.option_count = (size_t)argc - 4;
    checker_run(&checker, argv[3], NULL, 0, argv[2]);
    report_write(&checker.report, stdout);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
