/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the devices of a runtime, and opens each on first use. */
#ifndef GYRE_CORE_DEVICE_DEVICES_H
#define GYRE_CORE_DEVICE_DEVICES_H

#include <stdbool.h>

#include "core/dispatch/dispatch.h"
#include "gyre/gyre.h"

/**
 * Finds device number `ordinal` of a backend (NULL: the configured backend; "auto": the best one), and opens it on first use.
 * *out is borrowed until the runtime is closed.
 */
gyre_status gyre_runtime_device(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                                struct gyre_dispatch **out);
/** Finds the device for the kernel that [kernel.NAME] configures. `backend` NULL: the section's setting; an error tells its
 * place. */
gyre_status gyre_kernel_device(gyre_runtime *runtime, const char *name, const char *backend, uint32_t ordinal,
                               struct gyre_dispatch **out);
/** True when the last gyre_runtime_device failed. After a failed launch, that means that the launch failed for its device. */
bool gyre_runtime_device_failed(gyre_runtime *runtime);

#endif
