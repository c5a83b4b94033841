/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a runtime, which are opened on first use. */
#ifndef GYRE_CORE_DEVICE_DEVICES_H
#define GYRE_CORE_DEVICE_DEVICES_H

#include <stdbool.h>

#include "core/dispatch/dispatch.h"
#include "gyre/gyre.h"

/**
 * The device that a backend name (NULL: as configured; may be "auto") and ordinal mean, opened on first use.
 * *out is borrowed until the runtime is closed.
 */
gyre_status gyre_runtime_device(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                                struct gyre_dispatch **out);
/** That of the kernel that is configured as NAME; `backend` NULL: as its section says, which is blamed where it is wrong. */
gyre_status gyre_kernel_device(gyre_runtime *runtime, const char *name, const char *backend, uint32_t ordinal,
                               struct gyre_dispatch **out);
/** The last call of it found no such backend or device, or one that cannot start:
 * what a launch failed for. */
bool gyre_runtime_device_failed(gyre_runtime *runtime);

#endif
