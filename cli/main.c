/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `gyre`: calls cli_main (commands.h), which stands in a library so that tests reach it. When the limit of the
 * stack is small, a thread with a stack of usual size runs the command, because the main thread would overflow without a
 * warning.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "cli/commands.h"

enum { STACK_NEEDED = 1 << 20, STACK_USUAL = 8 << 20 };

struct command_line {
    char **arguments;
    size_t count;
    int code;
};

static bool stack_is_small(void)
{
    struct rlimit stack;
    return getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < STACK_NEEDED;
}

static void *run_line(void *argument)
{
    struct command_line *line = argument;
    line->code = cli_main(line->arguments, line->count);
    return NULL;
}

/* Runs the command in a thread with a stack of usual size. Threads that a plugin's libraries start get that size as well.
 * Blocks signals in the main thread, because the command may wait for them. False when nothing ran. */
static bool run_beside(struct command_line *line)
{
    pthread_t thread;
    pthread_attr_t usual;
    sigset_t all;
    pthread_attr_init(&usual);
    bool ran = pthread_attr_setstacksize(&usual, STACK_USUAL) == 0 &&
               pthread_setattr_default_np(&usual) == 0 &&
               pthread_create(&thread, &usual, run_line, line) == 0;
    pthread_attr_destroy(&usual);
    sigfillset(&all);
    if (ran)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    return ran && pthread_join(thread, NULL) == 0;
}

int main(int argc, char **argv)
{
    struct command_line line = {.arguments = argv + (argc > 0), .count = argc > 0 ? (size_t)argc - 1 : 0};
    signal(SIGXFSZ, SIG_IGN); /* a write beyond a limit of file sizes fails with a sentence instead */
    if (!stack_is_small() || !run_beside(&line))
        run_line(&line);
    return line.code;
}
