/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines of the worker. They go to the core over the control socket and never block: a line that finds no room there is
 * dropped. Threads: any.
 */
#ifndef GYRE_CORE_WORKER_LOG_H
#define GYRE_CORE_WORKER_LOG_H

#include <stdint.h>

#include "gyre/status.h"

/** Before the first line; one thread. EXHAUSTED. */
gyre_status worker_log_open(int control);
/** A line of the plugin or of the worker itself; the type is gyre_log_function's. */
void worker_log(void *context, int level, const char *text);
/** A line that a handler of the kernel with this number wrote. */
void worker_log_kernel(uint64_t id, const char *text, int64_t value);

#endif
