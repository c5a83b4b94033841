/* SPDX-License-Identifier: Apache-2.0 */
/* What the command needs of a runtime besides gyre.h. It includes this and devices.h, and no other header of this folder. */
#ifndef GYRE_CORE_API_TOOLS_H
#define GYRE_CORE_API_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config/config.h"
#include "core/types/types.h"
#include "gyre/backend.h"
#include "gyre/gyre.h"

/** gyre_open for the command, whose settings somebody typed: their origin is the command line. */
gyre_status gyre_runtime_open_typed(const gyre_open_desc *desc, gyre_runtime **out);

/** The least important lines that are logged from now on, where nobody configured that. */
void gyre_runtime_preset_log_level(gyre_runtime *runtime, gyre_log_level level);

/** The values in effect. Borrowed until the runtime is closed. */
const struct gyre_config *gyre_runtime_config(const gyre_runtime *runtime);

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
