/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the worker program, in either of its roles, as a child of the calling thread. The system ends a worker when that
 * thread ends.
 */
#ifndef GYRE_CORE_ISOLATION_SPAWN_H
#define GYRE_CORE_ISOLATION_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "gyre/status.h"

/** A process that runs the worker program. */
struct gyre_worker_process {
    pid_t pid;
    int pidfd, socket; /* -1: there is none; also on a system without pidfd */
    uint64_t number;   /* of its mark (guard.h) */
};

/** A role of the program: its arguments `name` and `more`, as its usage says them; either may be NULL. */
struct gyre_worker_role {
    const char *name, *more;
    const char *mark; /* an entry of its environment besides the caller's; NULL: none */
};

/**
 * Starts the program with one end of a socket as its GYRE_WORKER_SOCKET and nothing else inherited; the other end is
 * out->socket. UNAVAILABLE when the program is not there, EXHAUSTED, FAILED.
 */
gyre_status gyre_worker_spawn(const struct gyre_worker_role *role, struct gyre_worker_process *out);

#endif
