/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the worker program, in either of its roles, as a child of the calling thread. The system ends a worker when
 * that thread ends.
 */
#ifndef GYRE_CORE_ISOLATION_SPAWN_H
#define GYRE_CORE_ISOLATION_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "gyre/status.h"

/** A process that runs the worker program. */
struct gyre_worker_process {
    pid_t pid;
    int pidfd, socket; /* -1: there is none; on a system without pidfd, pidfd is always -1 */
    uint64_t number;   /* the number of the process's mark (guard.h) */
};

/** A role of the worker program: its arguments `name` and `more` (see core/worker/main.c). Either may be NULL. */
struct gyre_worker_role {
    const char *name, *more;
    const char *mark; /* an entry that is added to the process's environment; NULL: none */
    int program;      /* of gyre_worker_hold_program; -1: the program that is installed now */
};

/**
 * A descriptor of the worker program, which the caller closes; -1: there is none. What is started with it is of that file also
 * when an upgrade put another one in its place: both ends of a socket, and the memory that they share, are of one version.
 */
int gyre_worker_hold_program(void);

/**
 * Starts the program. Its descriptor GYRE_WORKER_SOCKET is one end of a socket, and it inherits no other descriptors;
 * the other end is out->socket. UNAVAILABLE when the program is not installed, EXHAUSTED, FAILED.
 */
gyre_status gyre_worker_spawn(const struct gyre_worker_role *role, struct gyre_worker_process *out);

#endif
