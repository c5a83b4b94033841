/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch asks of durability: checkpoints and journals of a kernel, which are its keeper from then on. */
#ifndef GYRE_CORE_DURABILITY_DURABILITY_H
#define GYRE_CORE_DURABILITY_DURABILITY_H

#include "core/device/runtime.h"

/**
 * Becomes the keeper of a kernel whose buffers are bound and whose state is made, and makes what its checkpoints need
 * where they are configured.
 */
gyre_status gyre_durability_create(gyre_kernel *kernel);
/**
 * The kernel runs: logs settings of checkpoints without effect, and clocks in `source`, the file of its handler; then
 * starts the thread that takes checkpoints.
 */
gyre_status gyre_durability_start(gyre_kernel *kernel, const char *source);

#endif
