/* SPDX-License-Identifier: Apache-2.0 */
/* The functions with which a launch gives a kernel its keeper (core/kernel/keeper.h): checkpoints and journals. */
#ifndef GYRE_CORE_DURABILITY_DURABILITY_H
#define GYRE_CORE_DURABILITY_DURABILITY_H

#include "core/device/runtime.h"

/**
 * Becomes the keeper of a kernel, and makes its checkpoints if they are configured. Call when the kernel's buffers are bound
 * and its state is made.
 */
gyre_status gyre_durability_create(gyre_kernel *kernel);
/**
 * Call when the kernel runs. Logs settings of checkpoints that have no effect, and clocks in `source`, the handler's file. Then
 * starts the thread that takes checkpoints.
 */
gyre_status gyre_durability_start(gyre_kernel *kernel, const char *source);

#endif
