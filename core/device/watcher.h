/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watcher of a runtime, which watches its kernels and revives those that die. Devices and kernels call this table, and
 * know nothing else of the watcher.
 */
#ifndef GYRE_CORE_DEVICE_WATCHER_H
#define GYRE_CORE_DEVICE_WATCHER_H

#include <stdbool.h>

#include "gyre/gyre.h"

struct gyre_watcher {
    /** The kernel is about to be listed, which is where it is found when its worker process dies: makes kernel->care. */
    gyre_status (*begin)(gyre_kernel *kernel);
    /** The kernel was listed, and has no device side yet. */
    gyre_status (*listed)(gyre_kernel *kernel);
    /**
     * The worker process of a device, a struct gyre_open_device, died: has another one started, and the kernels of the
     * device run in it. False when the device is to be given up. In the thread of the worker's keeper.
     */
    bool (*lost)(void *device);
};

#endif
