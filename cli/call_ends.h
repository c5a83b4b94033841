/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that ends the program of `gyre call` or `gyre serve`: by a fault, a signal that it raises, exit, _exit or quick_exit.
 * Each is told on standard error, a moment later, so that the replies that came before are printed, and none leaves exit code 0.
 *
 * Not told: what goes around the C library (syscall), and a signal that cannot be caught, which the shell tells.
 */
#ifndef GYRE_CLI_CALL_ENDS_H
#define GYRE_CLI_CALL_ENDS_H

/**
 * From now on an end of this process is a handler's. One that it forks may end as it likes. `advice`: stands behind each
 * sentence; it must outlive the process.
 */
void call_ends_watch(const char *advice);
/** ... and is its own again. */
void call_ends_forget(void);

#endif
