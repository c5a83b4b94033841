/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads for the core, with an error sentence. No state, any thread. */
#ifndef GYRE_CORE_BASE_THREADS_H
#define GYRE_CORE_BASE_THREADS_H

#include <pthread.h>

#include "gyre/status.h"

/**
 * Starts a thread as gyre_thread_start does. EXHAUSTED with a sentence that names the thread's purpose, as in "for the
 * watchdog", the cause, and what to do.
 */
gyre_status gyre_thread_need(pthread_t *thread, void *(*run)(void *argument), void *argument,
                             const char *purpose, ...) __attribute__((format(printf, 4, 5)));

#endif
