/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the core's own. No state, any thread. */
#ifndef GYRE_CORE_BASE_THREAD_H
#define GYRE_CORE_BASE_THREAD_H

#include <pthread.h>

#include "gyre/status.h"

/**
 * Starts a thread as gyre_thread_start does. EXHAUSTED with what it is for, as in "for the watchdog", why there is none,
 * and what to do.
 */
gyre_status gyre_thread_need(pthread_t *thread, void *(*run)(void *argument), void *argument,
                             const char *purpose, ...) __attribute__((format(printf, 4, 5)));

#endif
