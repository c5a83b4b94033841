/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second worker with the device opened and all modules loaded, which takes the place of the first one when that
 * dies. All accept a device that keeps none. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_STANDBY_H
#define GYRE_CORE_ISOLATION_STANDBY_H

#include "core/isolation/proxy_device.h"

/** From now on one is kept. EXHAUSTED. */
gyre_status proxy_standby_begin(gyre_device *device);
/** Ends the thread that cares for it; the keeper, which is to be finished next, ends the process. */
void proxy_standby_finish(gyre_device *device);
/** The keeper was finished. */
void proxy_standby_free(gyre_device *device);

/** In the keeper's thread: it is the worker now. False: there is none that is ready. */
bool proxy_standby_take(gyre_device *device);
/** Whether the one that was taken has this object. */
bool proxy_standby_has(const gyre_device *device, uint64_t id);
/** What it has and the device has not any more is released. */
void proxy_standby_settle(gyre_device *device);

#endif
