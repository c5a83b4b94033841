/* SPDX-License-Identifier: Apache-2.0 */
/* The worker program as the guard of a program (core/isolation/guard.h). */
#ifndef GYRE_CORE_WORKER_GUARD_H
#define GYRE_CORE_WORKER_GUARD_H

#include <sys/types.h>

/** Waits for the end of `program`, whose marks begin with `prefix`. Returns the exit code. */
int worker_guard(int socket, pid_t program, const char *prefix);

#endif
