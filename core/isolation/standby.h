/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standby worker: a second worker with the device opened and all modules loaded, which becomes the worker when the
 * first worker dies (standby.c). All functions accept a device without a standby worker. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_STANDBY_H
#define GYRE_CORE_ISOLATION_STANDBY_H

#include "core/isolation/proxy_device.h"

/** Keeps a standby worker from now on. EXHAUSTED. */
gyre_status proxy_standby_begin(gyre_device *device);
/** Ends the thread that makes the standby worker ready. The caller then finishes the keeper, which ends the process. */
void proxy_standby_finish(gyre_device *device);
/** Frees the standby worker's memory. Call after the keeper was finished. */
void proxy_standby_free(gyre_device *device);

/** In the keeper's thread: makes the standby worker the worker. False: the standby worker is not ready. */
bool proxy_standby_take(gyre_device *device);
/** Whether the standby worker that was taken has this object. */
bool proxy_standby_has(const gyre_device *device, uint64_t id);
/** Has the worker that was taken release objects that the device does not have any more. */
void proxy_standby_settle(gyre_device *device);

#endif
