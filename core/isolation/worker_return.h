/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the death of a device's worker, and brings the device back in the next worker (worker_return.c; see
 * proxy.h).
 */
#ifndef GYRE_CORE_ISOLATION_WORKER_RETURN_H
#define GYRE_CORE_ISOLATION_WORKER_RETURN_H

#include <stdbool.h>

#include "gyre/backend.h"

/**
 * From now on the keeper's thread calls `lost` whenever the worker has died and was reaped. Operations of other
 * threads wait until `lost` returns. `lost` calls gyre_proxy_revive and returns true when that worked, even if the
 * new worker has died since. False gives the device up. `lost` NULL, as after opening: nobody brings the device back.
 */
void gyre_proxy_guard(gyre_device *device, bool (*lost)(void *context), void *context);

/* These functions may be called only inside `lost` (see gyre_proxy_guard). */

/** Makes sure that the last worker is dead, so that gyre_proxy_reason knows why. */
void gyre_proxy_bury(gyre_device *device);
/** Starts a new worker with the device and all its objects except launched kernels. May be repeated after a failure. */
gyre_status gyre_proxy_revive(gyre_device *device);
/** Waits for length_ns before the next attempt. False: the device is being closed. */
bool gyre_proxy_pause(gyre_device *device, uint64_t length_ns);
/** Waits until the deadline. False: the new worker died, or the device is being closed. */
bool gyre_proxy_watch(gyre_device *device, uint64_t deadline_ns);

/* These functions may be called from any thread. */

/** Kills the worker; `reason` becomes the reason of its death. */
void gyre_proxy_kill(gyre_device *device, const char *reason);
/** Copies why the last worker died. */
void gyre_proxy_reason(gyre_device *device, char *text, size_t size);
/** Whether a second worker is ready to take over. */
bool gyre_proxy_stands_by(gyre_device *device);

/* Private to this folder. */

/** The keeper calls this when its worker has died. `context`: the device. */
void proxy_lose(void *context);

#endif
