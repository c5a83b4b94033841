/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that starts processes, in all ways that come to mind, and leaves them to themselves. Only for the CPU backend
 * and with check = off.
 */
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include <gyre/kernel.h>
#include "crash.h"

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void fork_one(void)
{
    if (fork() == 0)
        sleep_for_ever();
}

/* As daemons do it. */
static void fork_a_daemon(void)
{
    if (fork() != 0)
        return;
    setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (fork() != 0)
        _exit(0);
    sleep_for_ever();
}

static void spawn_a_program(void)
{
    extern char **environ;
    char name[] = "sleep", length[] = "1000";
    char *arguments[] = {name, length, NULL};
    pid_t child;
    posix_spawnp(&child, "sleep", NULL, NULL, arguments, environ);
}

GYRE_KERNEL(forking, crash_request, crash_reply)
{
    fork_one();
    fork_a_daemon();
    spawn_a_program();
    reply->number = request->number;
    reply->check = 0;
    return system("sleep 1000 & sleep 1000 </dev/null >/dev/null 2>&1 &") == 0 ? GYRE_REPLY : GYRE_FAILED;
}
