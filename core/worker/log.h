/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the worker's log lines to the core over the control socket (log.c). Never blocks: a line that finds no room
 * in the socket is dropped. Threads: any.
 */
#ifndef GYRE_CORE_WORKER_LOG_H
#define GYRE_CORE_WORKER_LOG_H

#include <stdint.h>

#include "gyre/status.h"

/** Prepares the log. Call once, before the first line and from one thread. EXHAUSTED. */
gyre_status worker_log_open(int control);
/** Logs a line of the plugin or of the worker itself. A gyre_log_function. */
void worker_log(void *context, int level, const char *text);
/** Logs a line that a handler wrote. `id`: the number of the handler's kernel. */
void worker_log_kernel(uint64_t id, const char *text, int64_t value);

#endif
