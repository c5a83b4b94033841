/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standby worker: a second worker with the device opened and all modules loaded, which takes the place of the
 * first one when that dies. All functions accept a device without one. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_STANDBY_H
#define GYRE_CORE_ISOLATION_STANDBY_H

#include "core/isolation/proxy_device.h"

/** Keeps a standby worker from now on. EXHAUSTED. */
gyre_status proxy_standby_begin(gyre_device *device);
/** Ends the thread that makes it ready. The keeper, which is to be finished next, ends the process. */
void proxy_standby_finish(gyre_device *device);
/** Frees it, after the keeper was finished. */
void proxy_standby_free(gyre_device *device);

/** In the keeper's thread: makes it the worker. False: it is not ready. */
bool proxy_standby_take(gyre_device *device);
/** Whether the standby worker that was taken has this object. */
bool proxy_standby_has(const gyre_device *device, uint64_t id);
/** Has the taken worker release the objects that the device has not any more. */
void proxy_standby_settle(gyre_device *device);

#endif
