/* SPDX-License-Identifier: Apache-2.0 */
/* What the command needs of a runtime besides gyre.h. It includes this, and no other header of this folder. */
#ifndef GYRE_CORE_RUNTIME_TOOLS_H
#define GYRE_CORE_RUNTIME_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/types/types.h"
#include "gyre/gyre.h"

/** gyre_open for the command, whose settings somebody typed: their origin is the command line. */
gyre_status gyre_runtime_open_typed(const gyre_open_desc *desc, gyre_runtime **out);

/** The least important lines that are logged from now on, where nobody configured that. */
void gyre_runtime_preset_log_level(gyre_runtime *runtime, gyre_log_level level);

/** The values in effect. Borrowed until the runtime is closed. */
const struct gyre_config *gyre_runtime_config(const gyre_runtime *runtime);

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

/**
 * Builds what a launch of the descriptor would and compares the names of its bindings with those that the kernel
 * declares; whether there are buffers is not looked at. Logs nothing. Fails as the launch would.
 */
gyre_status gyre_launch_check_names(gyre_runtime *runtime, const gyre_launch_desc *desc);
/**
 * Builds it likewise, and gives the layout of what the kernel keeps as its state; its size is 0 where it keeps none.
 * Owner of *out: the caller.
 */
gyre_status gyre_launch_state_layout(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_layout **out);
/** The journal that a launched kernel took its state from, borrowed from it; NULL: it began with its initial one. */
const char *gyre_kernel_restored_from(gyre_kernel *kernel);

#endif
