/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog of a runtime: watchdog.c tells how it sees a handler that does not come back. */
#ifndef GYRE_CORE_RECOVERY_WATCHDOG_H
#define GYRE_CORE_RECOVERY_WATCHDOG_H

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

/** EXHAUSTED; *out is NULL then. */
gyre_status gyre_watchdog_create(struct gyre_watchdog **out);
/** Makes sure that somebody watches a kernel that is to be watched. EXHAUSTED. */
gyre_status gyre_watchdog_need(gyre_kernel *kernel);
/** Ends its thread. Accepts NULL. */
void gyre_watchdog_destroy(struct gyre_watchdog *watchdog);

#endif
