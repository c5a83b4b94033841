/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the cases of `gyre test` (test_jobs.h). The lock guards which job is next, and which one is printed next. While they run,
 * signals that would end this process wait, and are seen by a descriptor: the processes of the cases are killed first.
 */
#include "cli/cases/test_jobs.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/base/signals.h"
#include "gyre/waiting.h"
#include "core/base/error.h"
#include "core/base/process.h"

enum { SAID_SIZE = 32 * 1024, OWN_ARGUMENTS = 6 };

typedef struct test_runner {
    test_jobs *jobs;
    char program[PATH_MAX]; /* this one */
    pthread_mutex_t lock;
    size_t next, printed;
    bool *done;
    int ends; /* is readable once a signal ends this process; nobody reads it, so that all threads see that */
} test_runner;

/* ---- one job ---- */

static void append(char *said, const char *sentence)
{
    const size_t used = strlen(said);
    snprintf(said + used, SAID_SIZE - used, "%sgyre: %s\n", used && said[used - 1] != '\n' ? "\n" : "",
             sentence);
}

/* The arguments of a job's process; the caller frees them. NULL without memory. */
static const char **arguments_of(const test_runner *runner, const test_job *job)
{
    const test_jobs *jobs = runner->jobs;
    const char **arguments =
        calloc(jobs->option_count + jobs->check_option_count + OWN_ARGUMENTS + 1, sizeof *arguments);
    size_t count = 0;
    if (!arguments)
        return NULL;
    arguments[count++] = runner->program;
    arguments[count++] = "call";
    arguments[count++] = "--case";
    arguments[count++] = job->path;
    if (job->backend) {
        arguments[count++] = "--backend";
        arguments[count++] = job->backend;
    }
    for (size_t i = 0; i < jobs->option_count; i++)
        arguments[count++] = jobs->options[i];
    for (size_t i = 0; job->takes_checks && i < jobs->check_option_count; i++)
        arguments[count++] = jobs->check_options[i];
    return arguments;
}

/* Judges how a job's process ended; adds to what it said why, where it said nothing. */
static test_result judge_end(const test_runner *runner, gyre_status status,
                             const struct gyre_process_end *end, char *said)
{
    char sentence[256];
    if (status == GYRE_TIMEOUT)
        snprintf(sentence, sizeof sentence, "the case did not end within %llu ms (--limit)",
                 (unsigned long long)runner->jobs->limit_ms);
    else if (status != GYRE_OK)
        snprintf(sentence, sizeof sentence, "the case could not be run: %.200s", gyre_error_text());
    else if (end->signal)
        snprintf(sentence, sizeof sentence, "the case was ended by signal %d (%s)", end->signal,
                 strsignal(end->signal));
    else if (end->exit_code == 0)
        return TEST_PASSED;
    else
        snprintf(sentence, sizeof sentence, "exit code %d", end->exit_code);
    if (status != GYRE_OK || end->signal || !said[0])
        append(said, sentence);
    return TEST_FAILED;
}

/* Leaves the lines of a case that passed which are warnings. */
static void keep_warnings(char *said)
{
    static const char warning[] = "gyre: warning: ";
    char *kept = said;
    for (const char *line = said; *line;) {
        const size_t text = strcspn(line, "\n"), length = text + (line[text] == '\n');
        if (strncmp(line, warning, sizeof warning - 1) == 0) {
            memmove(kept, line, length);
            kept += length;
        }
        line += length;
    }
    *kept = '\0';
}

static void run_job(const test_runner *runner, test_job *job)
{
    const char **arguments = arguments_of(runner, job);
    char *said = calloc(1, SAID_SIZE);
    struct gyre_process_end end = {0};
    if (!arguments || !said) {
        free(said);
        job->result = TEST_FAILED; /* without memory for a reason */
    } else {
        const uint64_t limit = runner->jobs->limit_ms, begin = gyre_clock_ns();
        const struct gyre_process_desc desc = {.arguments = arguments,
                                               .deadline_ns = limit ? gyre_in_ms(limit) : GYRE_FOREVER,
                                               .errors = said,
                                               .errors_size = SAID_SIZE,
                                               .stop = &runner->ends};
        const gyre_status status = gyre_process_run(&desc, &end);
        job->took_ns = gyre_clock_ns() - begin;
        job->result = status == GYRE_CLOSED ? TEST_WAITS : judge_end(runner, status, &end, said);
        if (job->result == TEST_PASSED)
            keep_warnings(said);
        job->said = said;
    }
    free(arguments);
}

/* ---- all jobs ---- */

/* Marks a job as done, and prints those that are next in order. */
static void finish_job(test_runner *runner, size_t index)
{
    const test_jobs *jobs = runner->jobs;
    pthread_mutex_lock(&runner->lock);
    runner->done[index] = true;
    for (; runner->printed < jobs->count && runner->done[runner->printed]; runner->printed++)
        if (jobs->finished)
            jobs->finished(jobs->context, &jobs->jobs[runner->printed]);
    pthread_mutex_unlock(&runner->lock);
}

static bool take_job(test_runner *runner, size_t *index)
{
    pthread_mutex_lock(&runner->lock);
    *index = runner->next;
    runner->next += runner->next < runner->jobs->count;
    pthread_mutex_unlock(&runner->lock);
    return *index < runner->jobs->count;
}

static void *run_jobs(void *argument)
{
    test_runner *runner = argument;
    size_t index;
    while (take_job(runner, &index)) {
        test_job *job = &runner->jobs->jobs[index];
        if (job->result == TEST_WAITS)
            run_job(runner, job);
        if (job->result == TEST_WAITS)
            break; /* this process ends */
        finish_job(runner, index);
    }
    return NULL;
}

/* Runs the jobs in this thread and in others. Goes on with fewer threads where no more can be started. */
static void run_all(test_runner *runner)
{
    const size_t most =
        runner->jobs->at_once < runner->jobs->count ? runner->jobs->at_once : runner->jobs->count;
    pthread_t *threads = calloc(most + 1, sizeof *threads);
    size_t started = 0;
    while (threads && started + 1 < most && pthread_create(&threads[started], NULL, run_jobs, runner) == 0)
        started++;
    run_jobs(runner);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static size_t count_waiting(const test_jobs *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += jobs->jobs[i].result == TEST_WAITS;
    return count;
}

/* The signals that end this process: those that are not ignored (nohup, a job in the background of a script). */
static sigset_t ending_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t ending;
    sigemptyset(&ending);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (!cli_signal_is_ignored(signals[i]))
            sigaddset(&ending, signals[i]);
    return ending;
}

/* Runs all jobs while signals wait. One that came ends this process when it returns. */
static int run_while_signals_wait(test_runner *runner)
{
    const sigset_t ending = ending_signals();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &ending, &before);
    runner->ends = signalfd(-1, &ending, SFD_CLOEXEC);
    if (runner->ends < 0) /* then they end this process as they come */
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    run_all(runner);
    const size_t waiting = count_waiting(runner->jobs);
    if (waiting)
        cli_error(CLI_FAILED, "a signal ends this: %zu of %zu cases did not run to their end", waiting,
                  runner->jobs->count);
    if (runner->ends >= 0)
        close(runner->ends);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return waiting ? CLI_FAILED : CLI_OK;
}

int test_jobs_run(test_jobs *jobs)
{
    test_runner runner = {.jobs = jobs, .lock = PTHREAD_MUTEX_INITIALIZER, .ends = -1};
    const ssize_t length = readlink("/proc/self/exe", runner.program, sizeof runner.program - 1);
    if (length <= 0)
        return cli_error(CLI_FAILED, "cannot find this program, which runs each case: /proc/self/exe: %s",
                         strerror(errno));
    runner.program[length] = '\0';
    runner.done = calloc(jobs->count + 1, sizeof *runner.done);
    if (!runner.done)
        return cli_error(CLI_FAILED, "out of memory");
    const int code = run_while_signals_wait(&runner);
    free(runner.done);
    return code;
}
