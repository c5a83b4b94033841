/* SPDX-License-Identifier: Apache-2.0 */
/* The object behind a device that a runtime opened. */
#ifndef GYRE_CORE_DEVICE_OPEN_DEVICE_H
#define GYRE_CORE_DEVICE_OPEN_DEVICE_H

#include "core/device/runtime.h"
#include "core/dispatch/dispatch.h"
#include "core/registry/registry.h"

/** A device that is opened, or being opened; kept until the runtime is closed. */
struct gyre_open_device {
    struct gyre_open_device *next;
    struct gyre_dispatch *dispatch; /* while `opening`: for the thread that opens the device alone */
    const struct gyre_candidate *candidate;
    uint32_t ordinal;
    bool opening; /* under runtime->lock, which is given up meanwhile */

    /* Of a device in a worker process. Used by the thread of the worker's keeper alone (core/recovery). */
    gyre_runtime *runtime;
    uint32_t futile;   /* restarts in a row without an answered request in between */
    uint64_t answered; /* requests of the device's kernels that were answered at the last death */
    bool careful; /* requests are handed out one by one, because one of them is suspected of the deaths */
};

void gyre_runtime_close_devices(gyre_runtime *runtime);

#endif
