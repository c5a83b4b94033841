/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that are killed at any moment, or that close their runtime, and what they leave: no worker, and nothing that a
 * handler started.
 *
 *     test_orphans [ROUNDS [SEED]]
 *
 * Each victim is a program of its own, `test_orphans victim`; all processes that come of it have a word of its in their
 * environment, which they are found by.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/random.h"
#include "workers.h"

enum { ROUNDS = 24, LONGEST_MS = 700 };

static char word[64];

/* ---- the victim ---- */

/* Some have their handler compiled anew. */
static _Noreturn void be_victim(bool stands_by)
{
    char option[64];
    const uint64_t now = gyre_now_ns();
    snprintf(option, sizeof option, "kernel.forking.options=-DVICTIM=%llu",
             (unsigned long long)(now / 1000 % 3 ? 0 : now));
    gyre_runtime *runtime = open_isolated(
        (const char *const[]){"kernel.forking.stop_timeout_ms=500", option,
                              stands_by ? "backend.cpu.standby=true" : "backend.cpu.standby=false", NULL});
    for (uint64_t number = 1;; number++) {
        gyre_kernel *kernel = NULL;
        gyre_launch_desc desc = {.size = sizeof desc, .source = FORKS_KERNELS};
        const crash_request request = {.number = number};
        crash_reply reply;
        must(gyre_launch(runtime, &desc, &kernel));
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        if (number % 4 == 0)
            kill_worker();
        gyre_kernel_release(kernel);
    }
}

/* Its compiler never comes to an end. */
static _Noreturn void be_compiler(const char *compiler)
{
    char settings[2][128];
    gyre_kernel *kernel = NULL;
    snprintf(settings[0], sizeof settings[0], "backend.cpu.compiler=%s", compiler);
    snprintf(settings[1], sizeof settings[1], "kernel.forking.options=-DCOMPILED_AT=%llu",
             (unsigned long long)gyre_now_ns());
    gyre_runtime *runtime = open_isolated((const char *const[]){settings[0], settings[1], NULL});
    gyre_launch_desc desc = {.size = sizeof desc, .source = FORKS_KERNELS};
    gyre_launch(runtime, &desc, &kernel);
    _Exit(EXIT_FAILURE);
}

/* Goes on without its worker: stops itself once that is closed. */
static _Noreturn void be_closer(void)
{
    const crash_request request = {.number = 1};
    crash_reply reply;
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_launch_desc desc = {.size = sizeof desc, .source = FORKS_KERNELS};
    must(gyre_launch(runtime, &desc, &kernel));
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    gyre_close(runtime);
    raise(SIGSTOP);
    for (;;)
        pause();
}

/* ---- the others ---- */

/* Whether the process has the word in its environment, and is no zombie. */
static bool comes_of_it(const char *number)
{
    static char text[1 << 20];
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/environ", number);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file >= 0 ? read(file, text, sizeof text) : 0;
    if (file >= 0)
        close(file);
    return length > 0 && memmem(text, (size_t)length, word, strlen(word)) && is_alive((pid_t)atol(number));
}

static size_t count_left(bool tell)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]) || atol(entry->d_name) == getpid() ||
            !comes_of_it(entry->d_name))
            continue;
        count++;
        if (tell) {
            char command[512];
            snprintf(command, sizeof command, "head -3 /proc/%s/status; tr '\\0' ' ' </proc/%s/cmdline; echo",
                     entry->d_name, entry->d_name);
            fflush(stdout);
            (void)!system(command);
        }
    }
    if (folder)
        closedir(folder);
    return count;
}

static pid_t start_victim(const char *role, const char *more)
{
    pid_t victim = fork();
    if (victim == 0) {
        putenv(word);
        execl("/proc/self/exe", "test_orphans", role, more, (char *)NULL);
        _exit(127);
    }
    require(victim > 0);
    return victim;
}

static void await_left(size_t count)
{
    const uint64_t limit = soon();
    while (count_left(false) != count && gyre_now_ns() < limit)
        usleep(5000);
    require(count_left(count_left(false) != count) == count); /* told, if there are others */
}

static void kill_one(uint64_t *random, uint64_t round)
{
    snprintf(word, sizeof word, "ORPHANS_OF=%ld.%llu.", (long)getpid(), (unsigned long long)round);
    const pid_t victim = start_victim(random_below(random, 2) ? "victim" : "victim_with_standby", NULL);
    usleep((useconds_t)(random_below(random, LONGEST_MS * 1000)));
    kill(victim, SIGKILL);
    require(waitpid(victim, NULL, 0) == victim);
    await_left(0);
}

static void close_one(void)
{
    int status = 0;
    snprintf(word, sizeof word, "ORPHANS_OF=%ld.closed.", (long)getpid());
    const pid_t closer = start_victim("closer", NULL);
    require(waitpid(closer, &status, WUNTRACED) == closer && WIFSTOPPED(status));
    await_left(1);
    kill(closer, SIGKILL);
    require(waitpid(closer, &status, 0) == closer);
}

/* Killed once the program, its worker, its guard, the compiler and the compiler's child are there. */
static void kill_compiling(void)
{
    char folder[] = "/tmp/gyre-orphans-XXXXXX", compiler[64];
    require(mkdtemp(folder) != NULL);
    snprintf(compiler, sizeof compiler, "%s/cc", folder);
    FILE *file = fopen(compiler, "we");
    require(file && fputs("#!/bin/sh\ncase \"$*\" in *unit.c*) sleep 1000; exit 1;; esac\nexec cc \"$@\"\n",
                          file) > 0);
    require(fclose(file) == 0 && chmod(compiler, 0700) == 0);
    snprintf(word, sizeof word, "ORPHANS_OF=%ld.compiling.", (long)getpid());
    const pid_t victim = start_victim("compiler", compiler);
    const uint64_t limit = soon();
    while (count_left(false) < 5 && gyre_now_ns() < limit)
        usleep(5000);
    require(count_left(false) >= 5);
    kill(victim, SIGKILL);
    require(waitpid(victim, NULL, 0) == victim);
    await_left(0);
    unlink(compiler);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strncmp(argv[1], "victim", strlen("victim")))
        be_victim(!strcmp(argv[1], "victim_with_standby"));
    if (argc == 2 && !strcmp(argv[1], "closer"))
        be_closer();
    if (argc == 3 && !strcmp(argv[1], "compiler"))
        be_compiler(argv[2]);
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : ROUNDS;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : gyre_now_ns();
    uint64_t random = random_begin(seed);
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    close_one();
    kill_compiling();
    for (uint64_t round = 0; round < rounds; round++)
        kill_one(&random, round);
    return EXIT_SUCCESS;
}
