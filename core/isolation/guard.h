/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard: a process beside the program that ends the processes that its workers leave. A process that a handler started
 * outlives its worker, and with a dead program the system ends only the workers.
 *
 * Every worker has a mark in its environment, which every process that is started there inherits. When a worker has
 * died, the guard ends all processes with its mark. When the program has died, the guard ends all processes with a mark
 * of the program. A process that cleared its environment, or that belongs to another user by now, escapes. If the guard
 * cannot be started, the keeper ends the worker's process group alone, and only while the program lives. Threads: any.
 */
#ifndef GYRE_CORE_ISOLATION_GUARD_H
#define GYRE_CORE_ISOLATION_GUARD_H

#include <stdint.h>

enum { GYRE_MARK_SIZE = 96 };

/** How the guard shows in the list of processes. */
#define GYRE_GUARD_NAME "gyre-guard"

/** Makes sure that there is a guard, until gyre_guard_leave was called as often as this function. */
void gyre_guard_join(void);
/** The last caller ends the guard, once the guard did what it was asked for. */
void gyre_guard_leave(void);
/** Writes a mark for one more worker: an entry of its environment. Returns the number of the mark. */
uint64_t gyre_guard_mark(char mark[GYRE_MARK_SIZE]);
/** The worker with that mark is dead: asks the guard to end all processes with the mark. Does not wait. */
void gyre_guard_purge(uint64_t number);

#endif
