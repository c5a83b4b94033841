/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a runtime's watcher, which watches kernels and revives kernels whose device died. Devices and kernels call this
 * table, and know nothing else of the watcher. The watcher itself is core/recovery/runtime_care.c.
 */
#ifndef GYRE_CORE_DEVICE_WATCHER_H
#define GYRE_CORE_DEVICE_WATCHER_H

#include <stdbool.h>

#include "gyre/gyre.h"

struct gyre_watcher {
    /** Makes kernel->care. Call before the kernel is listed, because recovery finds the kernel in the list. */
    gyre_status (*begin)(gyre_kernel *kernel);
    /** Begins to watch the kernel. Call when the kernel is listed, and before it has a device side. */
    gyre_status (*listed)(gyre_kernel *kernel);
    /**
     * Call after the worker process of `device` (a struct gyre_open_device) died, in the thread of the worker's keeper. Has
     * another worker process started, and the device's kernels launched in it. False when the device is to be given up.
     */
    bool (*lost)(void *device);
};

#endif
