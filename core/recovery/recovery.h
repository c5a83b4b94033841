/* SPDX-License-Identifier: Apache-2.0 */
/* After the death of a worker process. In the thread of a device's keeper. */
#ifndef GYRE_CORE_RECOVERY_RECOVERY_H
#define GYRE_CORE_RECOVERY_RECOVERY_H

#include <stdbool.h>

#include "core/device/open_device.h"
#include "core/recovery/care.h"

/** The kernels of a device whose worker died, visited. */
struct gyre_recovery {
    struct gyre_open_device *device;
    gyre_kernel **kernels;
    size_t count;
};

/** The worker of that device died: brings its kernels back in another one. False when the device is to end. */
bool gyre_recovery_run(void *device);

#endif
