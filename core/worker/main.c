/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program gyre-worker: one device of one backend, in a process that may die.
 *
 *     gyre-worker PARENT [standby]
 *
 *     gyre-worker PARENT guard MARK
 *
 * The core runs this program as a child with a socket as descriptor 3. The program calls the plugin as the core asks
 * over the socket, and the user's handlers run here. It ends when its parent ends, and runs no exit handlers, because
 * the driver registered them. With `standby` it is a second worker; with `guard` it is a guard (guard.h).
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fault.h"
#include "core/isolation/worker.h"
#include "core/worker/guard.h"
#include "core/worker/serve.h"
#include "gyre/waiting.h"

static int is_socket(int descriptor)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: gyre-worker PARENT [standby | guard MARK]\nRun by Gyre itself.\n";
    const struct rlimit no_core = {0, 0};
    if (argc < 2 || argc > 4 || !is_socket(GYRE_WORKER_SOCKET)) {
        ssize_t ignored = write(STDERR_FILENO, usage, sizeof usage - 1);
        return ignored < 0 ? 1 : 2;
    }
    const pid_t parent = (pid_t)strtol(argv[1], NULL, 10);
    if (argc == 4)
        return worker_guard(GYRE_WORKER_SOCKET, parent, argv[3]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* the first until GYRE_PARCEL_PROMOTE; a program that is started by a descriptor has the name of a number */
    prctl(PR_SET_NAME, argc == 3 ? GYRE_STANDBY_NAME : GYRE_WORKER_PROGRAM);
    if (getppid() != parent)
        return 1;             /* the parent died before that took effect */
    signal(SIGXFSZ, SIG_IGN); /* a compile beyond the limit of file sizes fails, and the worker lives */
    setrlimit(RLIMIT_CORE, &no_core); /* a core file of shared rings and a driver takes seconds to write */
    (void)GYRE_FAULT_POINT(WORKER_START);
    gyre_barrier_register(); /* costs 14 ms in a process that has threads, and nothing in one without */
    worker_serve(GYRE_WORKER_SOCKET);
    _exit(0);
}
