/* SPDX-License-Identifier: Apache-2.0 */
/* Finds handlers that read a clock, because they may answer differently when a request is handled again. */
#ifndef GYRE_CORE_DURABILITY_CLOCKS_H
#define GYRE_CORE_DURABILITY_CLOCKS_H

#include "core/kernel/kernel.h"

/** Logs a warning when the kernel has checkpoints and its source uses a clock. */
void gyre_checkpoints_point_out(const gyre_kernel *kernel, const char *source);

#endif
