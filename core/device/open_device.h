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
    struct gyre_dispatch *dispatch; /* of the thread that opens it, while one does */
    const struct gyre_candidate *candidate;
    uint32_t ordinal;
    bool opening; /* under runtime->lock, which is given up meanwhile */

    /* of a device in a worker process; its keeper's thread alone uses them (recovery.c) */
    gyre_runtime *runtime;
    uint32_t futile;   /* restarts in a row after which no request was answered */
    uint64_t answered; /* requests of its kernels when the worker died last: to see whether there were more */
    bool careful;      /* requests are handed out one by one, because one of them is suspected */
};

void gyre_runtime_close_devices(gyre_runtime *runtime);

#endif
