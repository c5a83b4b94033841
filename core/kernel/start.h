/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the device side of a kernel. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_START_H
#define GYRE_CORE_KERNEL_START_H

#include "core/kernel/kernel.h"

/**
 * Starts the device side of a kernel that has none (state, bindings, blocks), and waits until it runs. Under the lock,
 * given up meanwhile. After a failure the device side is gone again; if it does not leave, the state is "stopping".
 */
gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active);
/**
 * Hands the kernel to the backend; the control region and the queue table are complete. `anew`: with the initial state.
 * Without the lock, by the thread that set `starting`.
 */
gyre_status gyre_kernel_launch_device(gyre_kernel *kernel, bool anew, gyre_resident **out);

#endif
