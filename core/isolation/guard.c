/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the program's guard (guard.h), sends it orders, and ends it. The guard itself is the worker program in
 * another role (core/worker/guard.c). Lock: guard.lock for everything; held across fork. A forked child has no guard:
 * it lets go of its copy of the parent's guard.
 */
#include "core/isolation/guard.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/isolation/spawn.h"
#include "gyre/waiting.h"

#define END_NS UINT64_C(5000000000)

static struct {
    pthread_mutex_t lock;
    pid_t program; /* the process that set the other members; 0: none yet */
    uint64_t begun_ns, last;
    uint32_t users;
    struct gyre_worker_process process; /* pid is 0 while there is none */
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER, .process = {.pidfd = -1, .socket = -1}};
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&guard.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&guard.lock);
}

static void prepare_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void let_go_of_guard(void)
{
    if (guard.process.pidfd >= 0)
        close(guard.process.pidfd);
    if (guard.process.socket >= 0)
        close(guard.process.socket);
    guard.process = (struct gyre_worker_process){.pidfd = -1, .socket = -1};
}

static void take_lock(void)
{
    pthread_once(&prepared, prepare_forks);
    pthread_mutex_lock(&guard.lock);
    if (guard.program == getpid())
        return;
    let_go_of_guard();
    guard.program = getpid();
    guard.begun_ns = gyre_clock_ns();
    guard.users = 0;
}

/*
 * Writes the beginning of all marks of this program: its process number and a time. The number may be used again by
 * a later program, but not with the same time.
 */
static int write_prefix(char mark[GYRE_MARK_SIZE])
{
    return snprintf(mark, GYRE_MARK_SIZE, "GYRE_KIN_%ld_%llu_", (long)guard.program,
                    (unsigned long long)guard.begun_ns);
}

uint64_t gyre_guard_mark(char mark[GYRE_MARK_SIZE])
{
    take_lock();
    const int length = write_prefix(mark);
    const uint64_t number = ++guard.last;
    snprintf(mark + length, GYRE_MARK_SIZE - (size_t)length, "%llu=1", (unsigned long long)number);
    pthread_mutex_unlock(&guard.lock);
    return number;
}

void gyre_guard_join(void)
{
    char prefix[GYRE_MARK_SIZE];
    const struct gyre_worker_role role = {.name = "guard", .more = prefix, .program = -1};
    take_lock();
    write_prefix(prefix);
    if (guard.users++ == 0) {
        gyre_error_hold();
        (void)gyre_worker_spawn(&role, &guard.process);
        gyre_error_let_go();
    }
    pthread_mutex_unlock(&guard.lock);
}

/*
 * Sends the guard an order. Ignores a guard that is busy or dead: the worker's process group has been ended in any
 * case.
 */
static void ask_guard(uint64_t number)
{
    if (guard.process.socket >= 0)
        (void)!send(guard.process.socket, &number, sizeof number, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void gyre_guard_purge(uint64_t number)
{
    take_lock();
    ask_guard(number);
    pthread_mutex_unlock(&guard.lock);
}

/*
 * Waits for the guard's end. Uses the pidfd where there is one: the program may have reaped the guard, and another
 * process may have its number. Signals of the program may interrupt each wait.
 */
static void await_end(const struct gyre_worker_process *process)
{
    const uint64_t deadline_ns = gyre_clock_ns() + END_NS;
    struct pollfd end = {.fd = process->pidfd, .events = POLLIN};
    siginfo_t about;
    if (process->pidfd < 0) {
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return;
    }
    for (uint64_t now = gyre_clock_ns(); now < deadline_ns; now = gyre_clock_ns()) {
        const struct timespec left = gyre_clock_timespec(deadline_ns - now);
        if (ppoll(&end, 1, &left, NULL) > 0)
            break;
    }
    if (!end.revents)
        syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)process->pidfd, &about, WEXITED) < 0 && errno == EINTR)
        ;
}

void gyre_guard_leave(void)
{
    take_lock();
    if (guard.users && --guard.users == 0 && guard.process.pid) {
        ask_guard(0);
        shutdown(guard.process.socket, SHUT_WR);
        await_end(&guard.process);
        let_go_of_guard();
    }
    pthread_mutex_unlock(&guard.lock);
}
