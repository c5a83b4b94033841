/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the worker program as a guard: a process that ends what a program's workers leave behind (guard.c). The
 * program's side, and what a mark is: core/isolation/guard.h.
 */
#ifndef GYRE_CORE_WORKER_GUARD_H
#define GYRE_CORE_WORKER_GUARD_H

#include <sys/types.h>

/**
 * Serves as guard until `program` ends; all marks of this program begin with `prefix`. Returns the guard's exit code.
 */
int worker_guard(int socket, pid_t program, const char *prefix);

#endif
