/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog of a runtime: watchdog.c tells how it sees a handler that does not come back. */
#ifndef GYRE_CORE_RUNTIME_WATCHDOG_H
#define GYRE_CORE_RUNTIME_WATCHDOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/gyre.h"

/** Looks for handlers that do not come back. */
struct gyre_watchdog {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the clock of deadlines */
    pthread_t thread;
    bool runs, stop;
    bool look;                    /* there is a kernel that it does not know yet */
    struct gyre_kernel **kernels; /* its thread's, as the room */
    size_t room;
    uint64_t missed_ns; /* atomic: for how long nobody looked, because the program was stopped */
};

void gyre_watchdog_init(gyre_runtime *runtime);
/** Makes sure that somebody watches a kernel that is to be watched. EXHAUSTED. */
gyre_status gyre_watchdog_need(gyre_kernel *kernel);
/** Frees what it needed for that. */
void gyre_watchdog_release(gyre_kernel *kernel);
void gyre_watchdog_finish(gyre_runtime *runtime);
/** Begins anew, so that a kernel that came back is not blamed for what went before. Under the lock. */
void gyre_watchdog_forget(gyre_kernel *kernel);
/** Under the lock. */
gyre_kernel_health gyre_kernel_health_of(const gyre_kernel *kernel);

#endif
