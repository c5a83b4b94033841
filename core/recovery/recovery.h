/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery from the death of a worker process. In the thread of the worker's keeper. */
#ifndef GYRE_CORE_RECOVERY_RECOVERY_H
#define GYRE_CORE_RECOVERY_RECOVERY_H

#include <stdbool.h>

#include "core/device/open_device.h"
#include "core/recovery/care.h"

/** A device whose worker died, and its kernels, which are visited. */
struct gyre_recovery {
    struct gyre_open_device *device;
    gyre_kernel **kernels;
    size_t count;
};

/** Revives the kernels of a struct gyre_open_device in another worker. False when the device has to be given up. */
bool gyre_recovery_run(void *device);

#endif
