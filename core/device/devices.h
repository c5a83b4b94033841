/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a runtime, which are opened on first use. */
#ifndef GYRE_CORE_DEVICE_DEVICES_H
#define GYRE_CORE_DEVICE_DEVICES_H

#include <stdbool.h>

#include "core/dispatch/dispatch.h"
#include "gyre/gyre.h"

/**
 * The device of a backend (NULL: the configured one; "auto": the best) with that ordinal, opened on first use. *out is
 * borrowed until the runtime is closed.
 */
gyre_status gyre_runtime_device(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                                struct gyre_dispatch **out);
/** The device for the kernel that is configured as NAME. `backend` NULL: from the kernel's section, whose place is told when it is wrong. */
gyre_status gyre_kernel_device(gyre_runtime *runtime, const char *name, const char *backend, uint32_t ordinal,
                               struct gyre_dispatch **out);
/** True when the last gyre_runtime_device failed, which tells that a launch failed because of its device. */
bool gyre_runtime_device_failed(gyre_runtime *runtime);

#endif
