/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a watchdog (watchdog.h). */
#ifndef GYRE_CORE_RECOVERY_WATCHDOG_THREAD_H
#define GYRE_CORE_RECOVERY_WATCHDOG_THREAD_H

#include "core/recovery/watchdog.h"

/** Makes a watchdog whose thread does not run yet. EXHAUSTED; *out is NULL then. */
gyre_status gyre_watchdog_create(struct gyre_watchdog **out);

/** Watches a kernel from now on, if its section asks for that or the process can be observed; starts the thread if necessary.
 * EXHAUSTED. */
gyre_status gyre_watchdog_need(gyre_kernel *kernel);

/** Ends the watchdog's thread. Its members stay, for a kernel that is still being revived. Accepts NULL. */
void gyre_watchdog_stop(struct gyre_watchdog *watchdog);

/** Frees a watchdog after gyre_watchdog_stop, when no worker process of the runtime is left. Accepts NULL. */
void gyre_watchdog_destroy(struct gyre_watchdog *watchdog);

#endif
