/* SPDX-License-Identifier: Apache-2.0 */
/* Recovers the kernels of a device from the death of its worker process (recovery.h). */
#ifndef GYRE_CORE_RECOVERY_RECOVERY_RUN_H
#define GYRE_CORE_RECOVERY_RECOVERY_RUN_H

#include "core/recovery/recovery.h"

/** Revives the kernels of a struct gyre_open_device in another worker. False when the device has to be given up. */
bool gyre_recovery_run(void *device);

#endif
