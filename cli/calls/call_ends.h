/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the user when a handler ends the program of `gyre call` or `gyre serve`: by a fault, a signal that the handler raises,
 * exit, _exit or quick_exit. The sentence on standard error comes later, so that earlier replies are printed first.
 * The program never ends with exit code 0 then.
 *
 * Two ends have no sentence: an end by a system call around the C library, and a signal that cannot be caught, which the shell
 * tells.
 */
#ifndef GYRE_CLI_CALLS_CALL_ENDS_H
#define GYRE_CLI_CALLS_CALL_ENDS_H

#include "gyre/gyre.h"

/**
 * From now on an end of this process counts as caused by a handler. A process that a handler forks may end as it likes.
 * `advice` stands behind each sentence; the text must stay valid until the process ends.
 */
void call_ends_watch(const char *advice);
/** From now on an end of this process counts as the command's own again. */
void call_ends_forget(void);

/**
 * The calling thread has printed every completion that it took from the queue. An end that a handler causes waits until that is so
 * of all completions that are there, for ten seconds at most. NULL: no more is printed, and the queue may be destroyed.
 */
void call_ends_printed(const gyre_queue *queue);

#endif
