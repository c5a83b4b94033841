/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the worker program (spawn.h) by posix_spawn and not by fork, because other threads of the caller may hold
 * locks. The worker keeps the caller's environment, output and errors. Its input is empty. It leads a process group
 * of its own, so that a terminal's interrupt reaches only the program.
 */
#include "core/isolation/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/base/places.h"
#include "core/isolation/worker.h"
#include "gyre/lack.h"

static void write_path(char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", gyre_place_helpers(), GYRE_WORKER_PROGRAM);
}

int gyre_worker_hold_program(void)
{
    char path[PATH_MAX];
    write_path(path);
    return open(path, O_PATH | O_CLOEXEC);
}

/* Where the program is started from. What was put in the place of the held file is started only where /proc cannot be read. */
static void find_program(int held, char program[PATH_MAX])
{
    char path_held[32];
    struct stat was, is;
    write_path(program);
    if (held < 0 || fstat(held, &was) != 0 ||
        (stat(program, &is) == 0 && is.st_dev == was.st_dev && is.st_ino == was.st_ino))
        return;
    snprintf(path_held, sizeof path_held, "/proc/%ld/fd/%d", (long)getpid(), held);
    if (access(path_held, X_OK) == 0)
        snprintf(program, PATH_MAX, "%s", path_held);
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setflags(attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    return posix_spawnattr_setsigdefault(attributes, &all);
}

static int set_descriptors(posix_spawn_file_actions_t *actions, int socket)
{
    int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, socket, GYRE_WORKER_SOCKET);
    if (rc == 0)
        rc = gyre_libc_close_from(actions, GYRE_WORKER_SOCKET + 1);
    return rc;
}

/*
 * Makes a copy of the caller's environment with the mark added, which the caller frees with free(). NULL without
 * memory.
 */
static char **marked_environment(const char *mark)
{
    extern char **environ;
    size_t count = 0;
    while (environ && environ[count]) /* NULL behind clearenv() */
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = environ[i];
    if (copy && mark)
        copy[count] = (char *)(uintptr_t)mark; /* posix_spawn never writes there */
    return copy;
}

static gyre_status explain_refusal(int code, const char *program)
{
    if (code == ENOENT)
        return gyre_error_set(GYRE_UNAVAILABLE,
                              "the worker program '%s' is not there; install it, or set isolation = none",
                              program);
    return gyre_error_set(code == EAGAIN || code == ENOMEM ? GYRE_EXHAUSTED : GYRE_FAILED,
                          "the worker program '%s' cannot be started: %s%s", program, strerror(code),
                          gyre_lack_remedy(code));
}

static gyre_status start_program(int socket, const struct gyre_worker_role *role, pid_t *pid)
{
    char program[PATH_MAX], parent[32];
    char *arguments[] = {program, parent, (char *)(uintptr_t)role->name, (char *)(uintptr_t)role->more, NULL};
    char **environment = marked_environment(role->mark);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    find_program(role->program, program);
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int rc = set_attributes(&attributes);
    if (rc == 0)
        rc = set_descriptors(&actions, socket);
    if (rc == 0 && !environment)
        rc = ENOMEM;
    if (rc == 0)
        rc = posix_spawn(pid, program, &actions, &attributes, arguments, environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 ? GYRE_OK : explain_refusal(rc, program);
}

gyre_status gyre_worker_spawn(const struct gyre_worker_role *role, struct gyre_worker_process *out)
{
    int ends[2];
    pid_t pid = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no socket for a worker process: %s%s", strerror(errno),
                              gyre_lack_remedy(errno));
    gyre_status status = start_program(ends[1], role, &pid);
    close(ends[1]);
    if (status != GYRE_OK) {
        close(ends[0]);
        return status;
    }
    *out = (struct gyre_worker_process){
        .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .socket = ends[0]};
    return GYRE_OK;
}
