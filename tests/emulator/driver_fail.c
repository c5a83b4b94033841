/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that fail because the environment says so, for tests of what a program makes of that:
 *
 *     EMULATOR_FAIL=CALL:N:CODE[:TIMES]   the N-th call of that name, or of any (*), counted from 1, answers CODE in
 *                                         place of its work, and so do the next, TIMES in all (1; 0: for ever). CODE
 *                                         is a number of cuda.h, or `late`: it works, but takes 300 ms; or both,
 *                                         700late: it answers 300 ms behind the moment at which it failed
 *     EMULATOR_FAIL_IN=PROGRAM            only in processes of that name
 *     EMULATOR_FAIL_ONCE=FILE             only in the first process that comes to it, which makes the file
 *     EMULATOR_CALLS=FILE                 gets a line for each call, in their order: its name and the place in the
 *                                         plugin that it comes from, with the callers of that
 *
 * A code after which the real device does not work any more is kept: every call answers it from then on, and kernels
 * end. Each failure is told on stderr. A thread whose call failed so is kept for a moment in its next call: if it has
 * not said by then what failed, another one does, as may happen under load. Until then each call of other threads that
 * answers the same is told on stderr: any of them may be first to say it. No lock: a counter, and a flag.
 */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS 300000000
#define KEPT_NS 100000000 /* who looks after kernels looks several times */
enum { FRAMES = 16, PLACES = 5 };

static struct {
    char call[64];
    uint64_t from, times; /* 0 from: nothing fails */
    CUresult result;
    bool late;
    int calls; /* the file of names, or -1 */
} plan;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t counted;
/* Whether a call of this thread failed for good, and whether that thread has made no other since. */
static _Thread_local bool failed_here;
static bool failed_apart;

static void read_plan(void)
{
    const char *fail = getenv("EMULATOR_FAIL"), *program = getenv("EMULATOR_FAIL_IN");
    const char *calls = getenv("EMULATOR_CALLS");
    const bool here = !program || !program[0] || strcmp(program, program_invocation_short_name) == 0;
    char code[16] = "";
    unsigned long long from = 0, times = 1;
    plan.calls =
        calls && calls[0] && here ? open(calls, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (!fail || !fail[0] || !here)
        return;
    if (sscanf(fail, "%63[^:]:%llu:%15[^:]:%llu", plan.call, &from, code, &times) < 3 || from == 0) {
        driver_complain(CUDA_SUCCESS, "EMULATOR_FAIL", "expected CALL:N:CODE[:TIMES], found '%s'", fail);
        return;
    }
    plan.late = strstr(code, "late") != NULL;
    plan.result = (CUresult)strtol(code, NULL, 10);
    plan.from = from;
    plan.times = times ? times : UINT64_MAX - from;
}

/* The header gives some functions names of a version: cuMemAlloc_v2. */
static size_t plain_length(const char *call)
{
    const char *version = strstr(call, "_v");
    return version ? (size_t)(version - call) : strlen(call);
}

/* " 1a2b.3c4d.5e6f": the innermost places within the plugin. */
static int describe_place(char *text, size_t size)
{
    void *frames[FRAMES];
    const int count = backtrace(frames, FRAMES);
    int used = 0, found = 0;
    for (int i = 0; i < count && found < PLACES && used < (int)size; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) && strstr(info.dli_fname, "/gyre-cuda"))
            used += snprintf(text + used, size - (size_t)used, "%c%zx", found++ ? '.' : ' ',
                             (size_t)((char *)frames[i] - (char *)info.dli_fbase));
    }
    return used;
}

static void note(const char *call)
{
    char line[160];
    int length = snprintf(line, sizeof line, "%.*s", (int)plain_length(call), call);
    length += describe_place(line + length, sizeof line - 2 - (size_t)length);
    line[length++] = '\n';
    if (write(plan.calls, line, (size_t)length) != length)
        driver_complain(CUDA_SUCCESS, "EMULATOR_CALLS", "the file cannot be written");
}

static bool is_meant(const char *call)
{
    const size_t length = plain_length(call);
    return plan.from > 0 && (strcmp(plan.call, "*") == 0 ||
                             (strlen(plan.call) == length && memcmp(plan.call, call, length) == 0));
}

/* Whether no process before this one came to a failure, where that counts. */
static bool is_first(void)
{
    static bool mine;
    const char *path = getenv("EMULATOR_FAIL_ONCE");
    if (!path || !path[0] || mine)
        return true;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    mine = file >= 0;
    if (mine)
        close(file);
    return mine;
}

static bool is_fatal(CUresult result)
{
    static const CUresult fatal[] = {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT,
                                     CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (fatal[i] == result)
            return true;
    return false;
}

void driver_fail_spreads(const char *call)
{
    if (!__atomic_load_n(&failed_apart, __ATOMIC_ACQUIRE))
        return;
    if (!failed_here) {
        fprintf(stderr, "emulator: %.*s answers the same in another thread\n", (int)plain_length(call), call);
        return;
    }
    __atomic_store_n(&failed_apart, false, __ATOMIC_RELEASE);
    nanosleep(&(struct timespec){0, KEPT_NS}, NULL);
}

CUresult driver_fail(const char *call)
{
    pthread_once(&once, read_plan);
    if (plan.calls >= 0)
        note(call);
    if (!is_meant(call))
        return CUDA_SUCCESS;
    const uint64_t number = __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED);
    if (number < plan.from || number - plan.from >= plan.times || !is_first())
        return CUDA_SUCCESS;
    fprintf(stderr, "emulator: %.*s fails as it was told to, call %llu\n", (int)plain_length(call), call,
            (unsigned long long)number);
    if (is_fatal(plan.result)) {
        failed_here = true;
        __atomic_store_n(&failed_apart, true, __ATOMIC_RELEASE);
        driver_break(plan.result, "EMULATOR_FAIL says so");
    }
    if (plan.late)
        nanosleep(&(struct timespec){0, LATE_NS}, NULL);
    return plan.result;
}
