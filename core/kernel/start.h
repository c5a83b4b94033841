/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the device side of a kernel. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_START_H
#define GYRE_CORE_KERNEL_START_H

#include "core/kernel/kernel.h"

/**
 * Starts the device side (state, bindings, blocks) of a kernel that has none, and waits until the blocks run. Under the lock,
 * given up meanwhile. A failed start takes the device side down again; if that fails, too, the kernel's state is "stopping".
 */
gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active);
/**
 * Hands the kernel to the backend. The control region and the queue table are complete. `anew`: the state begins with its
 * initial content. Call without the lock, from the thread that set turn.starting.
 */
gyre_status gyre_kernel_launch_device(gyre_kernel *kernel, bool anew, gyre_resident **out);

#endif
