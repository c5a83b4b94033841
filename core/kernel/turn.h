/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a kernel. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_TURN_H
#define GYRE_CORE_KERNEL_TURN_H

#include "core/kernel/kernel.h"

/** Waits until nobody takes the device side up or down. Under the lock, which is given up meanwhile. */
void gyre_kernel_await_turn(gyre_kernel *kernel);
/**
 * Waits until every block obeyed the last command, also when the kernel is brought back meanwhile. Under the
 * lock, which is given up meanwhile.
 */
gyre_status gyre_kernel_await_obeyed(gyre_kernel *kernel, uint64_t deadline_ns);
/**
 * Waits until no handler of the kernel runs that ran before the call. Takes the lock. TIMEOUT when one does
 * not come back within stop_timeout_ms.
 */
gyre_status gyre_kernel_await_boundary(gyre_kernel *kernel);

#endif
