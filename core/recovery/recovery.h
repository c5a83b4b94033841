/* SPDX-License-Identifier: Apache-2.0 */
/* Recovers the kernels of a device from the death of its worker process, in the thread of the worker's keeper. How:
 * recovery_run.c. */
#ifndef GYRE_CORE_RECOVERY_RECOVERY_H
#define GYRE_CORE_RECOVERY_RECOVERY_H

#include <stdbool.h>

#include "core/device/open_device.h"
#include "core/recovery/care.h"

/** A device whose worker process died, and its kernels. The kernels are visited, so none is freed. */
struct gyre_recovery {
    struct gyre_open_device *device;
    gyre_kernel **kernels;
    size_t count;
};

#endif
