/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of Gyre's own. No state, any thread. */
#ifndef GYRE_CORE_BASE_THREAD_H
#define GYRE_CORE_BASE_THREAD_H

#include <pthread.h>

/**
 * pthread_create of a thread that leaves the program's signals to the program's threads. 0, or what
 * pthread_create returns.
 */
int gyre_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
