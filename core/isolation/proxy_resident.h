/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launched kernels (residents) of a device in a worker: the operations, each implemented by the function of its
 * slot's name, and the kernels' log lines (proxy_resident.c). Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_PROXY_RESIDENT_H
#define GYRE_CORE_ISOLATION_PROXY_RESIDENT_H

#include "core/isolation/proxy_device.h"

gyre_status proxy_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status proxy_wait(gyre_resident *resident, uint64_t deadline_ns);
gyre_status proxy_notify(gyre_resident *resident);
void proxy_release(gyre_resident *resident);
/** Hands a log line that a handler in the worker wrote to its kernel's log. */
void proxy_hear_kernel(gyre_device *device, struct gyre_parcel *message);

#endif
