/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the device side of a kernel. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_START_H
#define GYRE_CORE_KERNEL_START_H

#include "core/kernel/kernel.h"

/**
 * Starts the device side of a kernel that has none: state, bindings, workers; waits until it runs. Under the
 * lock, which is given up meanwhile. After a failure the device side is gone again, or, when it does not
 * leave, the state is "stopping".
 */
gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active);
/**
 * Hands everything to the backend: the control region and the queue table stand. Without the lock, by the
 * thread that has `starting`. `anew`: with the initial state.
 */
gyre_status gyre_kernel_launch_device(gyre_kernel *kernel, bool anew, gyre_resident **out);

#endif
