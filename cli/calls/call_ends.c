/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the user that a handler ended the program (call_ends.h). Runs on the handler's stack, in the handler's thread, at any
 * moment.
 *
 * Makes system calls in place of writev(), nanosleep() and _exit() of the C library. The first two read whether their thread is
 * cancelled, and a handler that writes beyond an array on the thread's stack, as on PoCL, may have overwritten that note. The
 * third is defined below.
 */
#include "cli/calls/call_ends.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/api/taken.h"

/* A moment for whoever tells of the program's work in another thread; how long answers are waited for that are not printed yet. */
enum { MOMENT_MS = 300, LOOK_MS = 10, PRINTED_WITHIN_MS = 10000 };

static atomic_int watched;                 /* id of the watched process, or 0 */
static _Atomic(const char *) advised = ""; /* text behind each sentence */

static _Atomic(const gyre_queue *) printing; /* whose answers are printed; or NULL */
static _Atomic(uint64_t) printed;            /* up to which one they are */
static _Atomic(pthread_t) printer;           /* the thread that does; set before `printing` */
static atomic_int lookers; /* threads that look at the queue now, which must not go meanwhile */

/* True in the watched process, false in a child that a handler forked. */
static bool is_watched(void)
{
    return atomic_load(&watched) == (int)syscall(SYS_getpid);
}

/* ---- answers first ---- */

void call_ends_printed(const gyre_queue *queue)
{
    atomic_store(&printer, pthread_self());
    if (queue)
        atomic_store(&printed, gyre_queue_taken(queue, NULL));
    atomic_store(&printing, queue);
    while (!queue && atomic_load(&lookers))
        sched_yield();
}

static void pause_ms(long milliseconds)
{
    const struct timespec pause = {0, milliseconds * 1000000};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Whether all that was answered is printed, or nothing more will be. */
static bool is_printed(void)
{
    bool more = false;
    atomic_fetch_add(&lookers, 1);
    const gyre_queue *queue = atomic_load(&printing);
    const bool is_all = !queue || gyre_queue_taken(queue, &more) == atomic_load(&printed);
    atomic_fetch_sub(&lookers, 1);
    return is_all && !more;
}

/* Waits until what was answered before is printed. A busy machine gives the thread that prints a processor late. */
static void await_answers(void)
{
    if (!atomic_load(&printing))
        pause_ms(MOMENT_MS);
    else if (!pthread_equal(atomic_load(&printer), pthread_self()))
        for (int ms = 0, looks = 0; looks < 2 && ms < PRINTED_WITHIN_MS; ms += LOOK_MS) {
            pause_ms(LOOK_MS);
            looks = is_printed() ? looks + 1 : 0;
        }
}

static void write_sentence(const char *sentence)
{
    const char *advice = atomic_load(&advised);
    const struct iovec line[] = {{(void *)(uintptr_t)sentence, strlen(sentence)},
                                 {(void *)(uintptr_t)advice, strlen(advice)},
                                 {(void *)(uintptr_t) "\n", 1}};
    await_answers();
    syscall(SYS_writev, STDERR_FILENO, line, sizeof line / sizeof line[0]);
}

/* ---- signals ---- */

static const struct fault {
    int number;
    const char *raised;
} faults[] = {
#define RAISED(name)                                                                                         \
    "gyre: a handler, or another process, sent this program the signal " name ", which ended it"
    {SIGSEGV, RAISED("SIGSEGV")},
    {SIGBUS, RAISED("SIGBUS")},
    {SIGFPE, RAISED("SIGFPE")},
    {SIGILL, RAISED("SIGILL")},
    {SIGABRT, RAISED("SIGABRT (abort, assert)")},
#undef RAISED
};

/*
 * Handles a signal: prints a sentence, and lets the default action of the signal follow. After a fault it follows by itself,
 * when the faulting instruction runs again. A signal that a program sent has no such instruction, so this function sends it
 * once more.
 */
static void tell_signal(int number, siginfo_t *info, void *context)
{
    const char *sentence =
        "gyre: a fault ended the program, most likely in the handler (invalid memory access, a division "
        "by zero, locals beyond backend.cpu lane_stack, or, with opencl, a barrier that not all lanes meet); "
        "the same command under gdb shows where";
    const bool sent = info->si_code <= 0;
    (void)context;
    for (size_t i = 0; sent && i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i].number == number)
            sentence = faults[i].raised;
    if (is_watched())
        write_sentence(sentence);
    if (sent)
        syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
}

static void watch_signals(void)
{
    struct sigaction action = {.sa_sigaction = tell_signal,
                               .sa_flags = (int)SA_RESETHAND | SA_ONSTACK | SA_SIGINFO};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct sigaction before;
        if (sigaction(faults[i].number, NULL, &before) == 0 &&
            before.sa_handler == SIG_DFL) /* not a sanitizer's */
            sigaction(faults[i].number, &action, NULL);
    }
}

/* ---- exits ---- */

/* Runs when a handler calls exit. Ends the program with CLI_FAILED, because exit code 0 would mean that all requests were
 * answered. */
static void tell_exit(void)
{
    if (!is_watched())
        return;
    write_sentence(
        "gyre: a handler ended the program by exit, and what was not answered by then will not be: "
        "return gyre_fail(gyre, code, \"text\") in its place");
    syscall(SYS_exit_group, CLI_FAILED);
}

#ifdef GYRE_COMMAND_EXITS
/* A kernel that calls _exit or _Exit finds these functions before the C library's, because the command exports them
 * (cli/CMakeLists.txt). */
__attribute__((visibility("default"), noreturn)) void _exit(int code);
__attribute__((visibility("default"), noreturn)) void _Exit(int code);

void _exit(int code)
{
    tell_exit();
    for (;;)
        syscall(SYS_exit_group, code);
}

void _Exit(int code)
{
    _exit(code);
}
#endif

void call_ends_watch(const char *advice)
{
    static bool registered;
    atomic_store(&advised, advice);
    watch_signals();
    if (!registered)
        registered = atexit(tell_exit) == 0 && at_quick_exit(tell_exit) == 0;
    atomic_store(&watched, registered ? (int)getpid() : 0);
}

void call_ends_forget(void)
{
    atomic_store(&watched, 0);
}
