/* SPDX-License-Identifier: Apache-2.0 */
/* The object behind a device that a runtime opened. Finding and opening it: devices.h. */
#ifndef GYRE_CORE_DEVICE_OPEN_DEVICE_H
#define GYRE_CORE_DEVICE_OPEN_DEVICE_H

#include "core/device/runtime.h"
#include "core/dispatch/dispatch.h"
#include "core/registry/registry.h"

/** A device that is open or is being opened. It stays open until the runtime is closed. */
struct gyre_open_device {
    struct gyre_open_device *next;
    struct gyre_dispatch *dispatch; /* while `opening`, only the thread that opens the device uses it */
    const struct gyre_candidate *candidate;
    uint32_t ordinal;
    bool opening; /* a thread opens the device, without runtime->lock; the member is under runtime->lock */

    /* For a device in a worker process. Only the thread of the worker's keeper uses these members (core/recovery). */
    gyre_runtime *runtime;
    uint32_t futile;   /* restarts in a row without an answered request in between */
    uint64_t answered; /* answered requests of the device's kernels, at the last death of the worker */
    bool careful; /* requests are handed out one by one, because one of them may have caused the deaths */
};

void gyre_runtime_close_devices(gyre_runtime *runtime);

#endif
