/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process beside the program that ends what its workers leave: one that a handler started outlives the worker, and the
 * kernel ends with a dead program only the workers themselves.
 *
 * Every worker gets a mark into its environment, which whatever is started there inherits. When a worker has died, the
 * guard ends all that has its mark; when the program has died, all that has a mark of the program. A process that cleared
 * its environment, or that belongs to another user by now, escapes. Without a guard (it could not be started) only the
 * worker's process group is ended, and only while the program lives. Threads: any.
 */
#ifndef GYRE_CORE_ISOLATION_GUARD_H
#define GYRE_CORE_ISOLATION_GUARD_H

#include <stdint.h>

enum { GYRE_MARK_SIZE = 96 };

/** How the guard shows in the list of processes. */
#define GYRE_GUARD_NAME "gyre-guard"

/** Makes sure that there is one, until gyre_guard_leave as often. */
void gyre_guard_join(void);
/** The last one ends it, once it did what it was asked for. */
void gyre_guard_leave(void);
/** A mark for one more worker: an entry of its environment. Its number. */
uint64_t gyre_guard_mark(char mark[GYRE_MARK_SIZE]);
/** That worker is dead: whatever has its mark is to end. Does not wait. */
void gyre_guard_purge(uint64_t number);

#endif
