/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor of a runtime: a thread that launches lost kernels again, as the setting on_loss says. */
#ifndef GYRE_CORE_RECOVERY_SUPERVISOR_H
#define GYRE_CORE_RECOVERY_SUPERVISOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"

struct gyre_supervisor {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool runs, stop, noticed; /* noticed: a kernel was lost since the last look */
};

/** Makes a supervisor whose thread does not run yet. EXHAUSTED; *out is NULL then. */
gyre_status gyre_supervisor_create(struct gyre_supervisor **out);
/** Starts the thread if the kernel's section has on_loss, and the thread does not run yet. EXHAUSTED. */
gyre_status gyre_supervisor_need(const gyre_kernel *kernel);
/** Tells the thread that a kernel was lost. */
void gyre_supervisor_notice(gyre_runtime *runtime);
/**
 * LOST, with the reason and with what to do, when the kernel is lost for good: `on_loss` leaves it or gave it up, and the
 * application had a second to launch it again by itself. Else OK.
 */
gyre_status gyre_supervisor_check_gone(gyre_kernel *kernel);
/** Ends the supervisor's thread. Other threads may still call gyre_supervisor_notice afterwards. Accepts NULL. */
void gyre_supervisor_stop(struct gyre_supervisor *supervisor);
/** Frees a supervisor after gyre_supervisor_stop, when no worker process of the runtime is left. Accepts NULL. */
void gyre_supervisor_destroy(struct gyre_supervisor *supervisor);

#endif
