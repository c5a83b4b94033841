/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the worker program as a guard (core/isolation/guard.h). Waits until the program dies, or sends the number of a
 * worker that died, and ends every process with the program's or the worker's mark in its environment. One thread, no
 * locks. Must not keep any file of the program open, because the guard may outlive the program for a moment.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/isolation/guard.h"
#include "core/worker/guard.h"

enum { ENVIRONMENT_MAX = 1 << 21, PASSES_MAX = 2000, LOOK_MS = 100 };

static char environment[ENVIRONMENT_MAX];

/* Whether an entry of the process's environment begins with the mark. */
static bool is_marked(int process, const char *mark)
{
    char path[64];
    size_t length = 0;
    ssize_t got = 1;
    snprintf(path, sizeof path, "/proc/%d/environ", process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && got > 0 && length < sizeof environment) {
        got = read(file, environment + length, sizeof environment - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0)
        close(file);
    const char *found = length ? memmem(environment, length, mark, strlen(mark)) : NULL;
    return found && (found == environment || found[-1] == '\0');
}

/*
 * Ends a process that has the mark. Opens the descriptor (pidfd) first: while it is open, no other process is ended
 * in its place.
 */
static bool end_if_marked(int process, const char *mark)
{
    const int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    const bool marked = process != getpid() && is_marked(process, mark);
    if (marked && descriptor >= 0)
        syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0);
    else if (marked)
        kill(process, SIGKILL);
    if (descriptor >= 0)
        close(descriptor);
    return marked;
}

/*
 * Ends all processes with the mark, in one pass. Returns how many there were. These processes, and processes that
 * they just started, may still be there.
 */
static size_t end_all_once(const char *mark)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]))
            count += end_if_marked(atoi(entry->d_name), mark);
    if (folder)
        closedir(folder);
    return count;
}

static void end_all(const char *mark)
{
    for (int i = 0; i < PASSES_MAX && end_all_once(mark); i++)
        usleep(1000);
}

static void purge_worker(const char *prefix, uint64_t number)
{
    char mark[GYRE_MARK_SIZE + 32];
    snprintf(mark, sizeof mark, "%s%llu=", prefix, (unsigned long long)number);
    end_all(mark);
}

/* Lets go of the program's output, errors and working folder. The guard's input is empty already. */
static void let_go_of_program(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        close(nothing);
    }
    (void)!chdir("/");
}

enum order { ORDER_NONE, ORDER_PURGE, ORDER_END, ORDER_NO_MORE };

static enum order hear_order(int socket, uint64_t *number)
{
    const ssize_t got = recv(socket, number, sizeof *number, MSG_DONTWAIT);
    if (got == (ssize_t)sizeof *number)
        return *number ? ORDER_PURGE : ORDER_END;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? ORDER_NONE : ORDER_NO_MORE;
}

/*
 * The program's end shows in two ways. The socket ends without an order: the program is dying, or became another
 * program by exec, which ends its workers, too. Or the program's process ends: a forked child may still have the
 * socket then, so the guard looks at the process as well.
 */
int worker_guard(int socket, pid_t program, const char *prefix)
{
    uint64_t number = 0;
    enum order order = ORDER_NONE;
    prctl(PR_SET_NAME, GYRE_GUARD_NAME);
    let_go_of_program();
    const int end = (int)syscall(SYS_pidfd_open, program, 0);
    struct pollfd news[] = {{.fd = end, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    while (getppid() == program && !news[0].revents && order != ORDER_END && order != ORDER_NO_MORE) {
        poll(news, 2, end < 0 ? LOOK_MS : -1);
        order = news[1].revents ? hear_order(socket, &number) : ORDER_NONE;
        if (order == ORDER_PURGE)
            purge_worker(prefix, number);
    }
    if (order != ORDER_END)
        end_all(prefix);
    return 0;
}
